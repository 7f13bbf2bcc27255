// A replay: moments fetched one by one, shown as they are, forwards and backwards.
import { patch } from "./patch.js";

const replay = document.getElementById("replay");
const parser = new DOMParser();
const play = document.getElementById("play");
const slider = document.getElementById("slider");
const speed = document.getElementById("speed");
const where = document.getElementById("where");
const kept = new Map();
let at = Number(replay.dataset.at);
let last = Number(replay.dataset.length) || Infinity;
let timer = 0;
let wanted = at;

async function moment(number) {
  if (!kept.has(number)) {
    const query = new URLSearchParams({ at: number, eyes: replay.dataset.eyes });
    const response = await fetch(`${replay.dataset.moments}?${query}`, { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(response.statusText);
    kept.set(number, response.json());
  }
  return kept.get(number);
}

async function show(number) {
  wanted = Math.min(Math.max(1, number), last);
  const asked = wanted;
  const shown = await moment(asked);
  if (asked !== wanted) return;
  at = shown.at;
  if (shown.is_last) last = at;
  const board = document.getElementById("board");
  const fresh = board.cloneNode(false);
  fresh.innerHTML = shown.board;
  patch(board, fresh);
  const log = document.getElementById("log");
  log.replaceChildren(...shown.lines.toReversed().map((line) => {
    const item = document.createElement("li");
    item.append(...parser.parseFromString(line, "text/html").body.childNodes);
    return item;
  }));
  where.textContent = where.textContent.replace(/\d+/, String(at)).replace(/\d+$/, String(shown.turn));
  if (slider) slider.value = at;
  const address = new URL(location.href);
  address.searchParams.set("at", at);
  history.replaceState(null, "", address);
  if (at >= last) pause();
}

function pause() {
  clearInterval(timer);
  timer = 0;
  play.textContent = play.dataset.play;
}

function start() {
  play.textContent = play.dataset.pause;
  clearInterval(timer);
  timer = setInterval(() => show(at + 1), 1000 / Number(speed.value));
}

play.hidden = false;
play.addEventListener("click", () => (timer ? pause() : start()));
speed.addEventListener("change", () => timer && start());
slider?.addEventListener("input", () => show(Number(slider.value)));
for (const [id, to] of [["first", () => 1], ["back", () => at - 1], ["forward", () => at + 1]]) {
  document.getElementById(id).addEventListener("click", (event) => {
    event.preventDefault();
    show(to());
  });
}
document.addEventListener("keydown", (event) => {
  if (event.target.closest?.("input, select, textarea")) return;
  const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
  if (event.key in steps) show(at + steps[event.key]);
  else if (event.key === " " && !event.target.closest?.("button, a")) {
    event.preventDefault();
    play.click();
  } else if (event.key === "Home") show(1);
  else if (event.key === "End" && last < Infinity) show(last);
});
