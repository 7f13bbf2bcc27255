// A replay: fetches and shows single moments, forwards and backwards.
import { patch } from "./patch.js";

const replay = document.getElementById("replay");
const parser = new DOMParser();
const play = document.getElementById("play");
const slider = document.getElementById("slider");
const speed = document.getElementById("speed");
const where = document.getElementById("where");
const live = document.getElementById("live");
const kept = new Map();
let at = Number(replay.dataset.at);
let wait = Number(replay.dataset.wait);
let last = Number(replay.dataset.length) || Infinity;
let timer = 0;
let asked = 0;

async function moment(query) {
  const key = new URLSearchParams({ ...query, eyes: replay.dataset.eyes }).toString();
  if (!kept.has(key)) {
    const response = await fetch(`${replay.dataset.moments}?${key}`, { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(response.statusText);
    kept.set(key, await response.json());
  }
  return kept.get(key);
}

/** Show a moment, unless another one has been requested meanwhile. */
async function show(query) {
  asked += 1;
  const mine = asked;
  let shown;
  try {
    shown = await moment(query);
  } catch {
    pause();
    return;
  }
  if (mine !== asked) return;
  at = shown.at;
  wait = shown.wait_ms;
  if (shown.is_last) last = at;
  const board = document.getElementById("board");
  const fresh = board.cloneNode(false);
  fresh.append(...parser.parseFromString(shown.board, "text/html").body.childNodes);
  patch(board, fresh);
  document.getElementById("log").replaceChildren(...shown.lines.toReversed().map(line));
  where.textContent = shown.where;
  if (slider) slider.value = at;
  const address = new URL(location.href);
  address.searchParams.set("at", at);
  address.searchParams.delete("to");
  history.replaceState(null, "", address);
  if (at >= last) pause();
  else if (timer) next();
}

function line(text) {
  const item = document.createElement("li");
  const inside = document.createElement("span");
  inside.append(...parser.parseFromString(text, "text/html").body.childNodes);
  item.append(inside);
  return item;
}

const step = (number) => show({ at: Math.min(Math.max(1, number), last) });
const turn = (to) => show({ at, to });

function pause() {
  clearTimeout(timer);
  timer = 0;
  play.textContent = play.dataset.play;
}

/** Schedule the next event: at a fixed rate, or after the time that the players took, at least 200 ms. */
function next() {
  const tempo = Number(speed.value);
  clearTimeout(timer);
  timer = setTimeout(() => step(at + 1), tempo ? 1000 / tempo : Math.max(200, wait));
}

function start() {
  play.textContent = play.dataset.pause;
  next();
}

const actions = {
  first: () => step(1),
  "turn-back": () => turn("previous"),
  back: () => step(at - 1),
  forward: () => step(at + 1),
  "turn-forward": () => turn("next"),
};
play.hidden = false;
play.addEventListener("click", () => (timer ? pause() : start()));
speed.addEventListener("change", () => timer && next());
slider?.addEventListener("input", () => step(Number(slider.value)));
for (const [id, action] of Object.entries(actions)) {
  document.getElementById(id).addEventListener("click", (event) => {
    event.preventDefault();
    action();
  });
}

const keys = {
  ArrowLeft: actions.back,
  ArrowRight: actions.forward,
  PageUp: actions["turn-back"],
  PageDown: actions["turn-forward"],
  Home: actions.first,
  End: () => (live ? live.click() : last < Infinity && step(last)),
  Escape: () => live?.click(),
};
document.addEventListener("keydown", (event) => {
  if (event.target.closest?.("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in keys) {
    event.preventDefault();
    keys[event.key]();
  } else if (event.key === " " && !event.target.closest?.("button, a")) {
    event.preventDefault();
    play.click();
  }
});
