// A press is about what was there when it began: it acts once, and on nothing else, however the page is redrawn meanwhile.
//
// A browser clicks what is under the pointer, or has the focus, when a press ends. If that has been replaced since, it
// clicks nothing; if something else has come to its place, it clicks that.

const CONTROLS = "button, summary, a[href]";
const STILL_PX = 10;

/** The press that goes on or has just ended, and the key that is down. */
let press = null;
let held = null;

const controlOf = (element) => element.closest?.(CONTROLS) ?? null;

/** By what a control is known however often it is drawn: what it sends, or where it stands. */
function nameOf(control) {
  if (control.value) return `${control.name}=${control.value}`;
  return control.id || `${control.localName} of ${control.closest("[id]")?.id}`;
}

function begun(event) {
  const control = controlOf(event.target);
  return control && { event, control, name: nameOf(control), isDone: false };
}

function act(on) {
  on.isDone = true;
  const control = [...document.querySelectorAll(CONTROLS)].find((each) => nameOf(each) === on.name);
  const { pointerType } = on.event;
  control?.dispatchEvent(new PointerEvent("click", { bubbles: true, cancelable: true, composed: true, pointerType }));
}

function isStill(on, { clientX, clientY }) {
  return Math.hypot(clientX - on.event.clientX, clientY - on.event.clientY) <= STILL_PX;
}

function swallow(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

addEventListener("pointerdown", (event) => {
  if (event.isPrimary) press = event.button === 0 ? begun(event) : null;
}, true);

addEventListener("pointercancel", () => { press = null; }, true);

addEventListener("pointerup", (event) => {
  if (!press || !event.isPrimary || !isStill(press, event)) return;
  const isThere = press.event.target.isConnected && press.control.contains(event.target);
  if (!isThere || nameOf(press.control) !== press.name) act(press);
}, true);

addEventListener("click", (event) => {
  // Clicks by key, by another program or by a script are about what is there now.
  if (!press || !event.isTrusted || event.detail === 0) return;
  const control = controlOf(event.target);
  if (press.isDone || !control || nameOf(control) !== press.name) swallow(event);
  press.isDone = true;
}, true);

addEventListener("keydown", (event) => {
  const control = controlOf(event.target);
  // A key that stays down presses a button again and again.
  if (event.repeat && control && (event.key === "Enter" || event.key === " ")) event.preventDefault();
  else if (event.key === " ") held = begun(event);
}, true);

addEventListener("keyup", (event) => {
  if (event.key !== " " || !held) return;
  const on = held;
  held = null;
  if (controlOf(event.target) === on.control && nameOf(on.control) === on.name) return;
  event.preventDefault();
  act(on);
}, true);
