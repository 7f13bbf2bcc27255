// Playing on the board: the things of the legal choices are lit, a press previews a choice or sends it.
//
// A choice names its things in `data-touches`; a thing is an element with that id or `data-thing`. Pressed things narrow
// the choices down to those that touch all of them; a thing written `+NAME` is pressed after the others of its choice.
// Pieces of choices with too many combinations are check boxes.

/** Time after a new position in which presses are ignored, as they were meant for the table before. */
const EARLY_MS = 250;
const MOST_TAUGHT = 3;

const root = document.documentElement;
let held = [];
let tapped = null;
let pointed = null;
let cursor = null;
let position = null;
let since = -EARLY_MS;
let litSince = -EARLY_MS;
let steadying = 0;
let wasBehind = false;
let pressedAt = 0;
let isInstead = false;
let isTapped = false;
let openPen = "";

root.classList.add("scripted");

const form = () => document.getElementById("choose");
const boxes = () => [...document.querySelectorAll("#pieces input")];
/** Whether the board still shows an earlier moment than the choices, so that nothing on it can be chosen. */
const isBehind = () => root.classList.contains("behind");
const away = document.getElementById("away");
const isLost = () => !away.hidden;
const isBusy = () => document.getElementById("live").hasAttribute("aria-busy") || isLost();
const elementsOf = (name) => document.querySelectorAll(`#board svg[id="${name}"], #board svg [id="${name}"], #board :is(.plate, .pen)[data-thing="${name}"]`);
const isReady = (choice) => choice.first.every((name) => held.includes(name));
/** The things that can be pressed next for one of these choices. */
const namesOf = (list) => new Set(list.flatMap((each) => (isReady(each) ? each.things : each.first)));
const touchesAll = (choice, names) => names.every((name) => choice.things.includes(name));

/** For things that no choice names: the thing like it that one does. */
const alike = () => new Map((document.getElementById("choices-list")?.dataset.alike ?? "").split(" ").filter(Boolean).map((pair) => pair.split("=")));

const listed = () => [...document.querySelectorAll("#choices-list button[name=choice]")];

/** Whether a button of the list is one of the choices now, by the switch and by what is done with picked pieces. */
function isOffered({ dataset }) {
  const variant = document.getElementById("variant");
  if (variant && dataset.variant && (dataset.variant === "yes") !== variant.checked) return false;
  return !isInstead || dataset.instead !== undefined;
}

/** All choices of the list that are offered now, in their order, with the names of their things. */
function choices() {
  return listed().filter(isOffered).map((button) => {
    const names = button.dataset.touches.split(" ").filter(Boolean);
    const first = names.filter((name) => !name.startsWith("+"));
    return { button, first, things: names.map((name) => name.replace("+", "")) };
  });
}

/** The choices that touch all these things, if each of the things may be pressed by now. */
function candidates(names) {
  const isTimely = ({ first }) => first.every((name) => names.includes(name)) || names.every((name) => first.includes(name));
  return choices().filter((choice) => touchesAll(choice, names) && isTimely(choice));
}

/** The choice that these things mean: the one that touches only them, or the first of those that touch the same. */
function settled(names) {
  if (!names.length) return null;
  const open = candidates(names);
  const exact = open.find((choice) => choice.things.every((thing) => names.includes(thing)));
  const isAlike = open.every((choice) => touchesAll(choice, open[0].things) && touchesAll(open[0], choice.things));
  return exact ?? (open.length && isAlike ? open[0] : null);
}

/** The choice that the primary button offers: the one pointed at, else the tapped one, else what the pressed things mean. */
function current() {
  const all = choices();
  const named = (id) => all.find((choice) => choice.button.id === id);
  const isPicking = document.getElementById("instead") !== null && boxes().some((box) => box.checked) && !isInstead;
  const meant = (names) => settled(names) ?? candidates(names).find(({ button }) => !isPicking || button.dataset.instead === undefined);
  const isThing = pointed && !named(pointed) && !boxes().length;
  return named(pointed) ?? named(tapped) ?? (isThing ? meant([...held, pointed]) : null) ?? meant(held) ?? null;
}

/** The names of all things that can be pressed now. */
function choosable() {
  if (boxes().length) return new Set(boxes().map((box) => box.dataset.thing));
  return new Set([...namesOf(candidates(held)), ...namesOf(choices())]);
}

const mark = (names, style) => {
  if (isBehind()) return;
  for (const name of names) for (const each of elementsOf(name)) each.classList.add(style);
};

/** Show what is legal, held and previewed; called after every change. */
function show() {
  for (const style of ["lit", "held", "previewed", "dull"]) {
    for (const each of document.querySelectorAll(`#board .${style}`)) each.classList.remove(style);
  }
  for (const each of document.querySelectorAll("#board .ghost:not([id])")) each.remove();
  for (const each of document.querySelectorAll("#board .says")) each.textContent = "";
  for (const path of document.querySelectorAll("#arrow path")) path.removeAttribute("d");
  for (const pen of document.querySelectorAll(".pen")) pen.classList.toggle("open", pen.id === openPen);
  if (!form()) return;
  const picks = boxes();
  const open = candidates(picks.length ? [] : held);
  const fitting = picks.filter((box) => isInstead || box.dataset.fits !== undefined);
  const lit = picks.length ? new Set(fitting.map((box) => box.dataset.thing)) : namesOf(open);
  const choice = current();
  mark(lit, "lit");
  mark([...alike()].filter(([, other]) => lit.has(other)).map(([name]) => name), "lit");
  mark(picks.length ? picks.filter((box) => box.checked).map((box) => box.dataset.thing) : held, "held");
  mark(choice?.things ?? [], "previewed");
  if (cursor) mark([cursor], "previewed");
  choice?.button.classList.add("previewed");
  preview(choice, open);
  const things = [...document.querySelectorAll("#things svg g[id]")];
  if (!isBehind() && things.some((thing) => lit.has(thing.id))) {
    for (const thing of things) if (!thing.matches(".lit, .held")) thing.classList.add("dull");
  }
  for (const button of listed()) {
    const isAside = !isOffered(button) || (held.length > 0 && !open.some((each) => each.button === button));
    button.hidden = isAside && button !== document.activeElement;
    if (held.length && !isAside) for (let menu = button.closest("details"); menu; menu = menu.parentElement.closest("details")) menu.open = true;
  }
  const instead = document.getElementById("instead");
  if (instead) {
    instead.textContent = isInstead ? instead.dataset.back : instead.dataset.instead;
    instead.ariaPressed = String(isInstead);
  }
  for (const button of form().querySelectorAll("button")) button.ariaDisabled = isLost() ? "true" : null;
  offer(choice);
}

/** Show what a choice would do: ghosts of its pieces, a sentence on its things, and an arrow between two zones. */
function preview(choice, open) {
  if (!choice) return;
  const ghost = document.getElementById("ghost");
  for (const name of ghost ? choice.things : []) {
    for (const each of elementsOf(name)) {
      const drawn = ghost.cloneNode();
      drawn.removeAttribute("id");
      if (each.querySelector("g")) drawn.setAttribute("transform", "translate(12 0)");
      each.append(drawn);
    }
  }
  const [first] = choice.first;
  for (const { button, things } of [...open.filter(({ things }) => things[0] === first), choice]) {
    const said = things.map((name) => elementsOf(name)[0]?.querySelector(".says")).find(Boolean);
    if (said) said.textContent = button.dataset.says ?? "";
  }
  const isMeant = held.length > 0 || pointed || tapped;
  if (isMeant && document.getElementById("pens") && choice.things.length === 2 && !boxes().length) drawArrow(...choice.things);
}

/** Draw an arrow from one thing to another one, and back if both are pieces. */
function drawArrow(from, to) {
  const arrow = document.getElementById("arrow");
  const [one, other] = [from, to].map((name) => [...elementsOf(name)].find((each) => each.checkVisibility())?.getBoundingClientRect());
  if (!arrow || !one || !other) return;
  const { left, top } = arrow.getBoundingClientRect();
  const [x, y, toX, toY] = [one.x + one.width / 2 - left, one.y - top, other.x + other.width / 2 - left, other.bottom - top];
  const [alongX, alongY] = [(toX - x) / Math.hypot(toX - x, toY - y), (toY - y) / Math.hypot(toX - x, toY - y)];
  const tip = (atX, atY, way) => [-1, 1].map((side) => `M${atX} ${atY}l${way * (-14 * alongX - side * 8 * alongY)} ${way * (-14 * alongY + side * 8 * alongX)}`).join("");
  const isSwap = elementsOf(to)[0].matches(".die");
  for (const path of arrow.children) path.setAttribute("d", `M${x} ${y}L${toX} ${toY}${tip(toX, toY, 1)}${isSwap ? tip(x, y, -1) : ""}`);
}

/** Write the choice on the primary button; its value identifies the choice for presses that a redraw interrupts. */
function offer(choice) {
  const primary = document.getElementById("primary");
  if (!choice) {
    primary.textContent = primary.dataset.pick;
    delete primary.dataset.choice;
    primary.value = "";
    return;
  }
  const label = choice.button.cloneNode(true);
  for (const each of label.querySelectorAll(".brief")) each.remove();
  for (const each of label.querySelectorAll(".unseen")) each.classList.remove("unseen");
  primary.replaceChildren(...label.childNodes);
  if (isTapped) {
    const again = primary.appendChild(document.createElement("small"));
    again.className = "again";
    again.textContent = primary.dataset.again;
  }
  primary.dataset.choice = choice.button.id;
  primary.value = choice.button.value;
}

/** Note a preview by a finger; the first few add that another tap sends it. */
function teach() {
  let taps = MOST_TAUGHT;
  try {
    taps = Number(localStorage.getItem("taps"));
    localStorage.setItem("taps", String(taps + 1));
  } catch {
    // Without storage nothing is added.
  }
  isTapped = taps < MOST_TAUGHT;
}

// While the connection is lost, nothing can be sent, and what is previewed stays.
new MutationObserver(show).observe(away, { attributeFilter: ["hidden"] });

/** Take in a table that has just been drawn. */
export function refresh() {
  const now = document.getElementById("table").dataset.position;
  if (now !== position) {
    held = [];
    [tapped, pointed, cursor, isInstead, isTapped] = [null, null, null, false, false];
    if (position !== null) since = performance.now();
    document.getElementById("choices-list")?.scrollTo(0, 0);
  }
  if (now !== position || (wasBehind && !isBehind())) {
    if (position !== null) litSince = performance.now();
    clearTimeout(steadying);
    steadying = setTimeout(() => { if (!isBehind()) root.dataset.steady = now; }, EARLY_MS);
  }
  [position, wasBehind] = [now, isBehind()];
  show();
}

const send = (choice) => choice && form().requestSubmit(choice.button);

/** The name of the pressable thing around an element; undefined if there is none. */
function nameAt(element) {
  if (isBehind()) return undefined;
  const [names, others] = [choosable(), alike()];
  for (let at = element; at && at.id !== "board"; at = at.parentElement) {
    const own = at.dataset?.thing ?? at.id;
    const name = others.get(own) ?? own;
    if (names.has(name)) return name;
  }
  return undefined;
}

/** Pick a piece, or let it go; a set to play has one kind, with the pieces that go with every kind. */
function pick(box) {
  const picked = boxes().filter((each) => each.checked);
  if (document.getElementById("instead") && !isInstead && !box.checked) {
    if (box.dataset.fits === undefined) turn(true);
    else if (!picked.length && !box.dataset.kind) {
      for (const each of boxes()) each.checked = current()?.things.includes(each.dataset.thing) ?? false;
    } else for (const each of picked) if (box.dataset.kind && each.dataset.kind && each.dataset.kind !== box.dataset.kind) each.checked = false;
  }
  tapped = null;
  box.click();
}

/** Turn between playing pieces and doing something else with them; lets go of the picked ones. */
function turn(instead) {
  isInstead = instead;
  const picked = boxes().filter((each) => each.checked);
  for (const each of picked) each.checked = false;
  picked[0]?.dispatchEvent(new Event("change", { bubbles: true }));
  show();
}

/** Press a thing; with a mouse, a thing that leaves one choice sends it. */
function press(name, { sends }) {
  const box = boxes().find((each) => each.dataset.thing === name);
  if (box) {
    pick(box);
    return;
  }
  tapped = null;
  if (held.includes(name)) {
    const open = candidates(held);
    if (open.length === 1) send(open[0]);
    else held = held.filter((each) => each !== name);
  } else {
    // A thing that does not go with the held ones begins anew.
    held = candidates([...held, name]).length ? [...held, name] : [name];
    const open = candidates(held);
    if (sends && open.length === 1) send(open[0]);
  }
  show();
  if (held.length) candidates(held)[0]?.button.scrollIntoView({ block: "nearest" });
}

// A press on the board leaves the focus where it is.
document.addEventListener("mousedown", (event) => event.target.closest?.("#board svg, #primary") && event.preventDefault());

addEventListener("pointerdown", () => { pressedAt = performance.now(); }, true);

document.addEventListener("click", (event) => {
  const on = form() && event.target.closest?.("#board");
  if (!on) return;
  const button = event.target.closest("#choices-list button[name=choice]");
  const isPrimary = event.target.closest("#primary") !== null;
  const name = button || isPrimary ? undefined : nameAt(event.target);
  if (!button && !isPrimary && !name) return;
  const isEarly = event.isTrusted && event.detail > 0 && pressedAt < (name ? litSince : since) + EARLY_MS;
  const isTouch = event.pointerType === "touch";
  if (isEarly || isLost() || (isTouch && button && tapped !== button.id)) event.preventDefault();
  if (isEarly || isBusy()) return;
  if (isPrimary) {
    const choice = current();
    const isConfirmed = !isTouch || choice?.button.dataset.careful === undefined || tapped === choice.button.id || held.length > 0;
    if (isConfirmed) send(choice);
    else tapped = choice.button.id;
    if (!isConfirmed) teach();
    show();
  }
  else if (name) {
    if (isTouch && !boxes().length) teach();
    press(name, { sends: !isTouch });
  }
  else if (event.defaultPrevented) {
    tapped = button.id;
    teach();
    show();
  }
});

document.addEventListener("click", (event) => event.target.closest?.("#instead") && !isBusy() && turn(!isInstead));
document.addEventListener("change", (event) => event.target.id === "variant" && show());

/** Preview what is under the pointer, until it is over something else that can be chosen. */
function point(target) {
  const button = target.closest?.("#choices-list button[name=choice]");
  const name = form() ? (button?.id ?? (target.closest?.("#board") ? nameAt(target) : undefined) ?? null) : null;
  if (!name || name === pointed) return;
  pointed = name;
  show();
}

document.addEventListener("pointerover", (event) => event.pointerType !== "touch" && point(event.target));
document.addEventListener("focusin", (event) => {
  cursor = event.target.closest?.("#pieces") ? event.target.dataset.thing : null;
  if (event.target.closest?.("#choose")) point(event.target);
});

/** The pressable things in the order of reading. */
function inOrder() {
  const place = (name) => elementsOf(name)[0]?.getBoundingClientRect() ?? { top: 0, left: 0 };
  const lit = [...choosable()].filter((name) => elementsOf(name).length && (boxes().length || namesOf(candidates(held)).has(name)));
  return lit.sort((one, other) => place(one).top - place(other).top || place(one).left - place(other).left);
}

// On a phone the log is a sheet, and the things of others are small until a press opens them.
document.addEventListener("click", (event) => {
  const pen = event.target.closest?.(".pen");
  if (pen && (openPen !== pen.id || !nameAt(event.target))) {
    openPen = openPen === pen.id ? "" : pen.id;
    show();
  }
  if (event.target.closest?.("#ticker")) openLog(root.dataset.log === undefined);
  else if (!event.target.closest?.("#side")) openLog(false);
});

/** Open or close the sheet with the log. */
function openLog(isOpen) {
  if (isOpen) root.dataset.log = "";
  else delete root.dataset.log;
  const ticker = document.getElementById("ticker");
  if (ticker) ticker.ariaExpanded = String(isOpen);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "l" && !event.ctrlKey && !event.metaKey && !event.target.closest?.("input, select, textarea")) openLog(true);
  if (event.key === "Escape") openLog(false);
}, true);

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Keys for the board: arrows go through the things, Enter or space presses one, Escape lets go. */
document.addEventListener("keydown", (event) => {
  if (!form() || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
  if (event.key === "Escape") {
    [held, tapped, pointed, cursor] = [[], null, null, null];
    for (const box of boxes()) if (box.checked) box.click();
    show();
  } else if (event.key in STEPS && !event.target.closest?.("summary, .log")) {
    const things = inOrder();
    if (!things.length) return;
    event.preventDefault();
    const at = things.indexOf(cursor);
    cursor = things[(at < 0 && STEPS[event.key] < 0 ? 0 : at + STEPS[event.key] + things.length) % things.length];
    show();
  } else if ((event.key === "Enter" || event.key === " ") && cursor && !event.repeat && !event.target.closest?.("button, a, summary")) {
    event.preventDefault();
    press(cursor, { sends: false });
  }
});
