// Follows a part of the page: receives its changes from the stream of this browser, and hands over the part as it is now.

/** Make the copy of the last received state equal to the next one; see changes.py. */
export function apply(element, [attributes, steps]) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
  let at = element.firstChild;
  for (const step of steps || []) {
    if (typeof step === "string") {
      // Parsed inside an equal element, as elements of pictures need their namespace.
      const box = element.cloneNode(false);
      box.innerHTML = step;
      at ? at.before(...box.childNodes) : element.append(...box.childNodes);
    } else if (typeof step === "number") {
      for (let count = Math.abs(step); count; count -= 1) {
        const next = at.nextSibling;
        if (step < 0) at.remove();
        at = next;
      }
    } else {
      apply(at, step);
      at = at.nextSibling;
    }
  }
}

function size(element) {
  const walker = document.createTreeWalker(element);
  let count = 0;
  while (walker.nextNode()) count += 1;
  return count;
}

/** The hub in a SharedWorker; without one, in this tab. `post` receives its messages. */
async function connect(post) {
  const address = new URL("hub.js", import.meta.url);
  try {
    const worker = new SharedWorker(address, { type: "module", name: "rollbook" });
    worker.port.onmessage = ({ data }) => post(data);
    return { send: (message) => worker.port.postMessage(message), isShared: true };
  } catch {
    const { join } = await import(address);
    return { send: join(post), isShared: false };
  }
}

/**
 * Follow the topic that `live` names, beginning with the state of its only child. `take` receives each state as an
 * element, and for how long its message was under way in ms; `away` whether the connection is lost.
 */
export async function follow(live, { take, away = () => {}, ended = () => {} }) {
  // The stream is shared with tabs in other languages.
  const topic = `${live.dataset.topic}:${document.documentElement.lang}`;
  let { at } = live.dataset;
  let copy = live.firstElementChild.cloneNode(true);
  // What is requested apart from the stream is not part of its states.
  for (const each of copy.querySelectorAll("[data-apart]")) each.replaceChildren();
  let isOver = false;
  let hub = null;

  const receive = (said) => {
    if (said.message) change(said.message, said.late);
    else if (said.away !== undefined) away(said.away);
    else {
      isOver = true;
      if (said.end) ended();
    }
  };
  const change = (message, late) => {
    try {
      if (message.whole) copy = new DOMParser().parseFromString(message.whole, "text/html").body.firstElementChild;
      else apply(copy, message.edit);
      if (message.nodes && message.nodes !== size(copy)) throw new Error(`${size(copy)} nodes, not ${message.nodes}`);
    } catch (error) {
      // The next message is the whole.
      console.error(`lost: ${topic}: ${error}`);
      at = "";
      hub.send({ topic, at });
      return;
    }
    at = message.to;
    away(false);
    take(copy.cloneNode(true), late);
  };
  const subscribe = () => !isOver && hub.send({ topic, at, isShown: !document.hidden });

  hub = await connect(receive);
  if (hub.isShared || !document.hidden) subscribe();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) subscribe();
    else if (!hub.isShared) hub.send({ bye: true });
  });
  addEventListener("pagehide", () => hub.send({ bye: true }));
  addEventListener("pageshow", (event) => event.persisted && subscribe());
}
