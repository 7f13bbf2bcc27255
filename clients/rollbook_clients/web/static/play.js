// Playing on the board: the things of the legal choices are lit, a press previews a choice or sends it.
//
// A choice names its things in `data-touches`; a thing is an element with that id or `data-thing`. Pressed things narrow
// the choices down to those that touch all of them; a thing written `+NAME` is pressed after the others of its choice.
// Pieces of choices with too many combinations are check boxes.

/** Time after a new position in which presses are ignored, as they were meant for the table before. */
const EARLY_MS = 250;

const root = document.documentElement;
let held = [];
let tapped = null;
let pointed = null;
let cursor = null;
let position = null;
let since = -EARLY_MS;
let litSince = -EARLY_MS;
let wasBehind = false;
let pressedAt = 0;

root.classList.add("scripted");

const form = () => document.getElementById("choose");
const boxes = () => [...document.querySelectorAll("#pieces input")];
/** Whether the board still shows an earlier moment than the choices, so that nothing on it can be chosen. */
const isBehind = () => root.classList.contains("behind");
const isBusy = () => document.getElementById("live").hasAttribute("aria-busy");
const elementsOf = (name) => document.querySelectorAll(`#board svg[id="${name}"], #board svg [id="${name}"], #board :is(.plate, .pen)[data-thing="${name}"]`);
const isReady = (choice) => choice.first.every((name) => held.includes(name));
/** The things that can be pressed next for one of these choices. */
const namesOf = (list) => new Set(list.flatMap((each) => (isReady(each) ? each.things : each.first)));
const touchesAll = (choice, names) => names.every((name) => choice.things.includes(name));

/** For things that no choice names: the thing like it that one does. */
const alike = () => new Map((document.getElementById("choices-list")?.dataset.alike ?? "").split(" ").filter(Boolean).map((pair) => pair.split("=")));

/** All choices of the list, in their order, with the names of their things. */
function choices() {
  const buttons = [...document.querySelectorAll("#choices-list button[name=choice]")];
  return buttons.map((button) => {
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
  const isThing = pointed && !named(pointed) && !boxes().length;
  const found = named(pointed) ?? named(tapped) ?? (isThing ? settled([...held, pointed]) : null) ?? settled(held);
  if (found) return found;
  const isNext = all.length === 1 || boxes().some((box) => box.checked) || (all.length && !all[0].things.length);
  return isNext ? all[0] : null;
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
  if (!form()) return;
  const picks = boxes();
  const open = candidates(picks.length ? [] : held);
  const lit = picks.length ? new Set(picks.filter((box) => box.dataset.fits !== undefined).map((box) => box.dataset.thing)) : namesOf(open);
  const choice = current();
  mark(lit, "lit");
  mark([...alike()].filter(([, other]) => lit.has(other)).map(([name]) => name), "lit");
  mark(picks.length ? picks.filter((box) => box.checked).map((box) => box.dataset.thing) : held, "held");
  mark(choice?.things ?? [], "previewed");
  if (cursor) mark([cursor], "previewed");
  choice?.button.classList.add("previewed");
  const things = [...document.querySelectorAll("#things svg g[id]")];
  if (!isBehind() && things.some((thing) => lit.has(thing.id))) {
    for (const thing of things) if (!thing.matches(".lit, .held")) thing.classList.add("dull");
  }
  for (const { button } of choices()) {
    const isAside = held.length > 0 && !open.some((each) => each.button === button) && button !== document.activeElement;
    button.hidden = isAside;
    if (held.length && !isAside) for (let menu = button.closest("details"); menu; menu = menu.parentElement.closest("details")) menu.open = true;
  }
  offer(choice);
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
  primary.dataset.choice = choice.button.id;
  primary.value = choice.button.value;
}

/** Take in a table that has just been drawn. */
export function refresh() {
  const now = document.getElementById("table").dataset.position;
  if (now !== position) {
    held = [];
    [tapped, pointed, cursor] = [null, null, null];
    if (position !== null) since = performance.now();
    document.getElementById("choices-list")?.scrollTo(0, 0);
  }
  if (now !== position || (wasBehind && !isBehind())) {
    if (position !== null) litSince = performance.now();
    setTimeout(() => { if (position === now && !isBehind()) root.dataset.steady = now; }, EARLY_MS);
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

/** Press a thing; with a mouse, a thing that leaves one choice sends it. */
function press(name, { sends }) {
  const box = boxes().find((each) => each.dataset.thing === name);
  if (box) {
    box.click();
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
  if (isEarly || (isTouch && button && tapped !== button.id)) event.preventDefault();
  if (isEarly || isBusy()) return;
  if (isPrimary) send(current());
  else if (name) press(name, { sends: !isTouch });
  else if (event.defaultPrevented) {
    tapped = button.id;
    show();
  }
});

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
