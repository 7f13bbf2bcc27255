// The queue: boards, scores and log are shown one event after the other, each long enough to be seen. The awaited plate,
// the clocks and the choices follow the newest event at once; a press on the board or a key ends the queue.

/** How long the board stays as it is after an event, by its kind; all others are followed by the next at once. */
const HOLDS_MS = { throw: 700, step: 250, draw: 250, take: 500, place: 500 };
const FELT_MS = 1_200;
const FELT = ["bust", "steal", "snap", "trap", "rotten", "won"];
const OWN_THROW_MS = 350;
/** If the newest event is further away than this, the events before it are left out, felt ones last. */
const MOST_BEHIND_MS = 2_500;

/** What follows the queue: the parent and the element in it. */
const PACED = [["#board", "#middle"], ["#board", "#ticker"], ["#board", "#end"], ["#tray", "#things"], ["#side", "#log"]];
const PACED_IN_PLATES = [".score", ".unit", ".sub", ".front"];

const root = document.documentElement;
let draw = () => {};
let play = () => {};
let isOn = true;
let newest = null;
let shown = null;
/** The tables that come after the one whose board is shown; the last of them is the newest. */
let waiting = [];
let timer = 0;
let until = 0;

const positionOf = (table) => Number(table.dataset.position);

function holdOf({ dataset }) {
  if (FELT.includes(dataset.motion)) return FELT_MS;
  const isOwn = dataset.by !== "" && dataset.by === dataset.own;
  return dataset.motion === "throw" && isOwn ? OWN_THROW_MS : (HOLDS_MS[dataset.motion] ?? 0);
}

/** Show tables by `drawn(table)`, which makes the page equal to it, and play the sound of an event by `played`. */
export function begin(drawn, played) {
  [draw, play] = [drawn, played];
}

/** Turn the queue on or off. */
export function pace(on) {
  isOn = on;
  if (!on) jump();
}

/** Take in the newest table. */
export function take(fresh) {
  const steps = positionOf(fresh) - positionOf(newest ?? document.getElementById("table"));
  // The form stays for the moment in which chance decides how the own turn goes on, and with it the focus.
  const had = newest ?? document;
  if (steps === 1 && fresh.dataset.goesOn && had.querySelector("#choose")) {
    for (const part of ["#status", "#choose"]) exchange(fresh.querySelector("#tray"), had.querySelector(part), part);
  }
  newest = fresh;
  if (steps === 0 && waiting.length) waiting[waiting.length - 1] = fresh;
  else if (steps === 0) shown = fresh;
  else if (steps === 1 && isOn && !document.hidden && fresh.dataset.away === "no") waiting.push(fresh);
  else {
    release();
    waiting = [fresh];
  }
  thin();
  if (waiting.length && !timer) advance();
  else redraw();
}

/** Leave out what would keep the newest table waiting for too long. */
function thin() {
  const left = Math.max(0, until - performance.now());
  const behind = () => waiting.slice(0, -1).reduce((sum, each) => sum + holdOf(each), timer ? left : 0);
  while (waiting.length > 1 && behind() > MOST_BEHIND_MS) {
    const short = waiting.findIndex((each, number) => number < waiting.length - 1 && holdOf(each) < FELT_MS);
    waiting.splice(Math.max(short, 0), 1);
  }
}

/** Show the next table, and hold it. */
function advance() {
  timer = 0;
  while (waiting.length > 1 && !holdOf(waiting[0])) waiting.shift();
  const next = waiting.shift();
  if (!next) return;
  const before = remember();
  const isStep = shown === null || positionOf(next) - positionOf(shown) <= 1;
  shown = next;
  redraw();
  const { motion } = next.dataset;
  play(motion, !document.hidden);
  const hold = isOn && !document.hidden ? holdOf(next) : 0;
  if (hold) animate(before, next.dataset, hold, isStep);
  if (!hold) return;
  until = performance.now() + hold;
  timer = setTimeout(advance, hold);
}

function redraw() {
  root.classList.toggle("behind", waiting.length > 0);
  root.dataset.shown = positionOf(shown ?? newest);
  draw(mix());
  outline();
}

function release() {
  clearTimeout(timer);
  timer = 0;
}

/** Whether the board shows an earlier moment than the choices. */
export const isBehind = () => waiting.length > 0;

/** Show the newest table at once. */
export function jump() {
  if (!waiting.length) return;
  release();
  finish();
  shown = newest;
  waiting = [];
  redraw();
}

/** The newest table, with everything that follows the queue as it is on the board that is shown. */
function mix() {
  const mixed = newest.cloneNode(true);
  if (shown === null || shown === newest) return mixed;
  for (const [parent, part] of PACED) exchange(mixed.querySelector(parent), shown.querySelector(part), part);
  for (const plate of mixed.querySelectorAll("#players > li")) {
    const then = shown.querySelector(`#${plate.id}`);
    for (const part of then ? PACED_IN_PLATES : []) exchange(plate, then.querySelector(part), part);
  }
  return mixed;
}

function exchange(parent, then, part) {
  const now = parent?.querySelector(part);
  const copy = then?.cloneNode(true);
  // A clock may stand where the noun of the score stood before.
  if (now && copy && part === ".unit") copy.className = now.className;
  if (now && copy) now.replaceWith(copy);
  else if (copy && part === "#choose") parent?.append(copy);
  else if (copy) parent?.prepend(copy);
  else now?.remove();
}

const isOnBoard = (element) => element.closest?.("#middle, #things, #players, #end") !== null;

addEventListener("pointerdown", (event) => isBehind() && event.target.closest && isOnBoard(event.target) && jump(), true);

addEventListener("keydown", (event) => {
  const isChoice = /^[1-9]$/.test(event.key) && document.getElementById(`choice-${event.key}`);
  const isControl = (event.key === "Enter" || event.key === " ") && event.target.closest?.("button, summary, a");
  const isTyped = event.target.closest?.("input:not([type=checkbox]), select, textarea");
  if (!isChoice && !isControl && !isTyped && !event.ctrlKey && !event.metaKey && !event.altKey) jump();
}, true);

document.addEventListener("visibilitychange", () => document.hidden && jump());

// Motion of what has just been drawn: pieces slide, dice roll, tiles fly, and a bust has a line over the board.

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const MOVE_MS = 250;
const ROLL_MS = 350;
const FLIGHT_MS = 600;
const JAWS = ["M0 0H100V30L87.5 44L75 30L62.5 44L50 30L37.5 44L25 30L12.5 44L0 30Z", "M0 100H100V58L87.5 44L75 58L62.5 44L50 58L37.5 44L25 58L12.5 44L0 58Z"];

/** The part of a lane that its cards take, from the left. */
const PILE_WIDTH = 0.26;

let running = [];
/** The ids of what has changed, which is outlined where nothing moves. */
let changed = [];

/** What is on the board by id, to be compared with what is drawn next. */
function remember() {
  const things = new Map();
  for (const thing of document.querySelectorAll("#board svg [id]:not(defs *)")) {
    const isPiece = !thing.querySelector("[id]");
    things.set(thing.id, {
      thing, isPiece, rect: thing.getBoundingClientRect(), transform: thing.getAttribute("transform"), zone: thing.ownerSVGElement,
      parent: thing.parentElement,
      copy: thing.id.startsWith("pile-") ? thing.cloneNode(true) : null, html: isPiece ? thing.innerHTML : "",
    });
  }
  return things;
}

/** End all motion now. */
function finish() {
  for (const each of running) each.finish();
  running = [];
  changed = [];
  outline();
  for (const flight of document.querySelectorAll(".flight")) flight.remove();
}

/** Outline what has changed; called after every redraw of the same board. */
function outline() {
  if (!calm.matches) return;
  for (const thing of document.querySelectorAll("#board svg [id]:not(defs *)")) thing.classList.toggle("moved", changed.includes(thing.id));
}

function start(element, frames, duration, easing = "ease-out", fill = "none") {
  const animation = element.animate(frames, { duration, easing, fill });
  running = [...running.filter((each) => each.playState === "running"), animation];
  return animation;
}

const offset = (transform) => /translate\(([-\d.]+) ([-\d.]+)\)/.exec(transform ?? "")?.slice(1).map(Number);

/** Move the pieces to where they have been drawn, for an event that is shown for `hold` ms. */
function animate(before, { motion, by }, hold, isStep) {
  finish();
  const banner = document.getElementById("banner");
  if (banner) start(banner, [{ visibility: "visible" }, { visibility: "visible" }], hold, "linear");
  for (const thing of document.querySelectorAll("#board svg [id]:not(defs *)")) {
    const was = before.get(thing.id);
    const isChanged = !was || was.transform !== thing.getAttribute("transform") || (was.html && was.html !== thing.innerHTML);
    if (isChanged && calm.matches) changed.push(thing.id);
    else if (isStep && isChanged) move(thing, was, motion);
  }
  outline();
  if (calm.matches || !isStep) return;
  if (motion === "bust") for (const [id, was] of before) if (id.startsWith("runner-")) fall(id, was, by);
  if (motion === "snap" && before.has("chip")) {
    const far = (id) => Math.abs(before.get(id).rect.y - before.get("chip").rect.y);
    const [taken] = [...before.keys()].filter((id) => id.startsWith("pile-")).sort((one, other) => far(one) - far(other));
    if (taken) snap(before.get(taken), hold);
  }
}

function move(thing, was, motion) {
  const isDie = thing.classList.contains("die");
  if (isDie && motion !== "place" && motion !== "take" && thing.closest("#things, .pen, .front")) {
    start(thing, [{ opacity: 0, rotate: "-160deg", translate: "0 -30px" }, { opacity: 1, rotate: "0deg", translate: "0 0" }], ROLL_MS);
  } else if (was?.isPiece && was.zone !== thing.ownerSVGElement) {
    fly(thing, was);
  } else if (was) {
    const [from, to] = [offset(was.transform), offset(thing.getAttribute("transform"))];
    if (from && to) start(thing, [{ translate: `${from[0] - to[0]}px ${from[1] - to[1]}px` }, { translate: "0 0" }], MOVE_MS);
  } else start(thing, [{ opacity: 0 }, { opacity: 1 }], MOVE_MS);
}

/** A copy of a thing above the page, which nothing redraws; it goes with its animation. */
function lift(zone, shapes, { x, y, width, height }, rect, frames, duration) {
  const copy = zone.cloneNode(false);
  copy.removeAttribute("id");
  copy.setAttribute("class", `${zone.getAttribute("class") ?? ""} flight`);
  copy.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  copy.setAttribute("preserveAspectRatio", "none");
  copy.setAttribute("width", rect.width);
  copy.setAttribute("height", rect.height);
  copy.setAttribute("aria-hidden", "true");
  for (const shape of shapes) copy.append(shape);
  for (const each of copy.querySelectorAll("[id]")) each.removeAttribute("id");
  document.getElementById("live").append(copy);
  const flight = start(copy, frames, duration, "ease-in-out", "forwards");
  flight.finished.finally(() => copy.remove()).catch(() => {});
}

const shapesOf = (thing) => [...thing.children].map((each) => each.cloneNode(true));
const at = (x, y, more = "") => ({ transform: `translate(${x}px, ${y}px) ${more}` });

/** A thing flies from one zone to another, as a tile from plate to plate. */
function fly(thing, { rect: from }) {
  const to = thing.getBoundingClientRect();
  if (!to.width || !from.width) return;
  start(thing, [{ opacity: 0 }, { opacity: 0 }], FLIGHT_MS, "linear");
  const frames = [at(from.x, from.y, `scale(${from.width / to.width})`), at((from.x + to.x) / 2, (from.y + to.y) / 2 - 40, "scale(1.4)"), at(to.x, to.y)];
  lift(thing.ownerSVGElement, [wrap(thing)], thing.getBBox(), to, frames, FLIGHT_MS);
}

/** The shapes of a thing with its classes, around its own origin. */
function wrap(thing) {
  const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
  group.setAttribute("class", thing.getAttribute("class") ?? "");
  group.append(...shapesOf(thing));
  return group;
}

/** A thing that is gone, measured where it would stand on the board as it is drawn now. */
function measure({ thing, parent }) {
  const copy = thing.cloneNode(true);
  parent.append(copy);
  const found = { box: copy.getBBox(), rect: copy.getBoundingClientRect() };
  copy.remove();
  return found;
}

/** A runner shakes, and slides back to the marker of its seat, or off the column. */
function fall(id, was, seat) {
  const column = id.slice("runner-".length);
  const end = document.getElementById(`marker-${column}-${seat}`) ?? document.getElementById(`field-${column}-1`);
  const { box, rect } = measure(was);
  const { x, y } = rect;
  const to = end ? end.getBoundingClientRect() : rect;
  const frames = [0, -5, 5, -5, 5, 0].map((aside, number) => ({ ...at(x + aside, y), offset: number * 0.05 }));
  frames.push({ ...at(x, to.y + to.height / 2 - rect.height / 2), opacity: 1, offset: 0.75 }, { ...at(x, to.y), opacity: 0, offset: 1 });
  lift(was.zone, [wrap(was.thing)], box, rect, frames, 1_200);
}

/** The jaws close over the pile that a snap takes. */
function snap(was, hold) {
  const { zone, copy: pile } = was;
  const { box, rect } = measure(was);
  lift(zone, [...pile.children].filter((each) => each.localName === "g"), box, rect, [at(rect.x, rect.y), at(rect.x, rect.y)], hold / 3);
  const cards = { x: rect.x, y: rect.y, width: rect.width * PILE_WIDTH, height: rect.height };
  JAWS.forEach((path, number) => {
    const jaw = document.createElementNS("http://www.w3.org/2000/svg", "path");
    jaw.setAttribute("d", path);
    jaw.setAttribute("class", "gator");
    const open = at(rect.x, rect.y + (number ? 1 : -1) * rect.height * 0.7);
    const shut = at(rect.x, rect.y);
    lift(zone, [jaw], { x: 0, y: 0, width: 100, height: 100 }, cards, [{ ...open, offset: 0 }, { ...shut, offset: 0.25 }, { ...shut, opacity: 1, offset: 0.8 }, { ...open, opacity: 0, offset: 1 }], hold);
  });
}
