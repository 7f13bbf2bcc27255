// A press acts once, on the control that it began on, even if the page is redrawn meanwhile.
//
// A browser sends the click to the element under the pointer, or with the focus, when the press ends. If the control was
// replaced meanwhile, there is no click; if another control has taken its place, that one gets the click.

const CONTROLS = "button, summary, a[href]";
const STILL_PX = 10;

/** The running or latest pointer press, and the press of the space key that is held. */
let press = null;
let held = null;

const controlOf = (element) => element.closest?.(CONTROLS) ?? null;

/** The identity of a control across redraws: the value that it sends, or its place. */
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
  // Clicks by keyboard, assistive software or scripts concern the current page.
  if (!press || !event.isTrusted || event.detail === 0) return;
  const control = controlOf(event.target);
  if (press.isDone || !control || nameOf(control) !== press.name) swallow(event);
  press.isDone = true;
}, true);

addEventListener("keydown", (event) => {
  const control = controlOf(event.target);
  // A held key would press a button repeatedly.
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
