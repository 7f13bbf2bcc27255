// A stream of messages that reconnects after every loss, and shares the browser's connections with other tabs.
//
// A browser opens at most six connections to one origin. So a hidden tab, or a tab that finds enough others with open
// streams, polls instead of streaming.

const BEAT_MS = 40_000;
// The pauses stay short, because viewers wait for the table, and the page can bear thousands of such requests.
const PAUSES = [1, 2, 4, 8];
const MOST_STREAMS = 4;
const POLL_MS = 1_000;
const HIDDEN_POLL_MS = 5_000;
const FRESH_MS = 8_000;

const own = `stream/${Math.random()}`;

/** Number of other tabs that have reported an open stream. */
function others() {
  let count = 0;
  try {
    for (const key of Object.keys(localStorage).filter((each) => each.startsWith("stream/") && each !== own)) {
      if (Date.now() - Number(localStorage.getItem(key)) < FRESH_MS) count += 1;
      else localStorage.removeItem(key);
    }
  } catch {
    // Without storage the tabs do not know of each other.
  }
  return count;
}

function claim(isOpen) {
  try {
    if (isOpen) localStorage.setItem(own, String(Date.now()));
    else localStorage.removeItem(own);
  } catch {
    // See `others`.
  }
}

/** Follow `address`: `take` receives the data of each message, `away` whether the connection is lost. */
export function follow(address, { take, away = () => {}, ended = () => {} }) {
  let source = null;
  let failures = 0;
  let timer = 0;
  let seen = "";
  let over = false;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
    claim(false);
  };
  const lost = () => {
    close();
    away(true);
    const pause = PAUSES[Math.min(failures, PAUSES.length - 1)] * 1000;
    failures += 1;
    timer = setTimeout(begin, pause * (0.7 + 0.6 * Math.random()));
  };
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(lost, BEAT_MS);
  };
  const news = (data, id) => {
    failures = 0;
    seen = id;
    away(false);
    take(data);
  };
  const end = () => {
    over = true;
    close();
    ended();
  };
  const begin = () => {
    close();
    if (over) return;
    if (document.hidden || others() >= MOST_STREAMS) poll();
    else listen();
  };
  const listen = () => {
    claim(true);
    source = new EventSource(address);
    heard();
    source.onmessage = (event) => {
      heard();
      news(event.data, event.lastEventId);
    };
    source.addEventListener("beat", heard);
    source.addEventListener("end", end);
    source.onerror = lost;
  };
  const poll = async () => {
    const mode = document.hidden;
    try {
      const separator = address.includes("?") ? "&" : "?";
      const response = await fetch(`${address}${separator}once=${encodeURIComponent(seen)}`);
      if (!response.ok) throw new Error(response.statusText);
      if (response.status !== 204) news(await response.text(), response.headers.get("x-version") ?? "");
      else away(false);
      if (response.headers.get("x-over")) {
        end();
        return;
      }
    } catch {
      lost();
      return;
    }
    if (mode === document.hidden) timer = setTimeout(begin, document.hidden ? HIDDEN_POLL_MS : POLL_MS);
  };
  setInterval(() => source && claim(true), FRESH_MS / 4);
  document.addEventListener("visibilitychange", begin);
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => event.persisted && begin());
  begin();
}
