// A replay: fetches and shows single moments, forwards and backwards.
import "./keys.js";
import { patch } from "./patch.js";

const root = document.documentElement;
const replay = document.getElementById("replay");
const parser = new DOMParser();
const kept = new Map();
const MOST_KEPT = 200;
let timer = 0;
let asked = 0;
root.classList.add("scripted");

const element = (id) => document.getElementById(id);
const fact = (name) => Number(replay.dataset[name]);

async function moment(query) {
  const key = new URLSearchParams(query).toString();
  if (!kept.has(key)) {
    const response = await fetch(`${replay.dataset.path}?${key}`, { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(response.statusText);
    kept.set(key, await response.json());
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  }
  return kept.get(key);
}

/** Show a moment, unless another one has been requested meanwhile. */
async function show(query) {
  asked += 1;
  const mine = asked;
  let shown;
  try {
    shown = await moment({ far: replay.dataset.furthest, eyes: replay.dataset.eyes, ...query });
  } catch {
    pause();
    return;
  }
  if (mine !== asked) return;
  patch(replay, parser.parseFromString(shown.html, "text/html").getElementById("replay"));
  const slider = element("slider");
  slider.value = slider.getAttribute("value");
  element("eyes").value = replay.dataset.eyes;
  history.replaceState(null, "", replay.dataset.here);
  if (shown.is_last) pause();
  else if (timer) next();
}

/** Show an event; never one before the first throw, unless it is shown already, and never one beyond the next. */
function step(number) {
  const least = Math.min(fact("first"), fact("at"));
  show({ at: Math.max(least, "last" in replay.dataset ? Math.min(number, fact("at")) : number) });
}

const turn = (to) => show({ at: replay.dataset.at, to });

function pause() {
  clearTimeout(timer);
  timer = 0;
  root.classList.remove("playing");
}

/** Schedule the next event: at a fixed rate, or after the time that the players took, at least 200 ms. */
function next() {
  const tempo = Number(element("speed").value);
  clearTimeout(timer);
  timer = setTimeout(() => step(fact("at") + 1), tempo ? 1000 / tempo : Math.max(200, fact("wait")));
}

function start() {
  root.classList.add("playing");
  next();
}

/** The event at the handle of the slider; the furthest one for the dashed part behind it. */
function pointed() {
  const part = Math.min(1, Number(element("slider").value) / fact("end"));
  return fact("first") + Math.round((fact("furthest") - fact("first")) * part);
}

const actions = {
  first: () => step(fact("first")),
  "turn-back": () => turn("previous"),
  back: () => step(fact("at") - 1),
  play: () => (timer ? pause() : start()),
  forward: () => step(fact("at") + 1),
  "turn-forward": () => turn("next"),
  async link(link) {
    await navigator.clipboard.writeText(link.href);
    const copied = element("copied");
    copied.textContent = link.dataset.copied;
    copied.className = "answer";
    setTimeout(() => { copied.className = "unseen"; }, 2000);
  },
};

replay.addEventListener("click", (event) => {
  const control = event.target.closest("a, button");
  if (!control || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { event: number } = control.dataset;
  if (!number && (!(control.id in actions) || (control.id === "link" && !navigator.clipboard))) return;
  event.preventDefault();
  if (number) show({ at: number });
  else actions[control.id](control);
});
replay.addEventListener("input", (event) => event.target.id === "slider" && show({ at: pointed() }));
replay.addEventListener("change", (event) => {
  if (event.target.id === "speed" && timer) next();
  if (event.target.id === "eyes") show({ at: replay.dataset.at, eyes: event.target.value });
});

const keys = {
  ArrowLeft: "back",
  ArrowRight: "forward",
  PageUp: "turn-back",
  PageDown: "turn-forward",
  Home: "first",
};
document.addEventListener("keydown", (event) => {
  if (event.target.closest?.("select, textarea, input:not(#slider)") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in keys) {
    event.preventDefault();
    actions[keys[event.key]]();
  } else if (event.key === " " && !event.target.closest?.("button, a")) {
    event.preventDefault();
    actions.play();
  } else if (event.key === "Escape") element("live")?.click();
  else if (event.key === "End" && fact("furthest") > fact("at")) {
    event.preventDefault();
    step(fact("furthest"));
  }
});
