// The board in words, which the key B shows and hides, and the switch that turns all keys of the page off.

const root = document.documentElement;
const KEPT = { keys: "keys", words: "words" };
/** Keys that the page uses beside those of the browser; with the switch off, none of them reaches the page. */
const OURS = /^([a-z1-9?]|Arrow\w+|Page\w+|Home|End|Escape|Enter| )$/i;

function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage the switch holds until the page is left.
  }
}

const box = document.getElementById("keys");
const button = document.getElementById("words-switch");
if (box) box.checked = kept(KEPT.keys) !== "off";
document.getElementById("keys-switches")?.removeAttribute("hidden");
const isOn = () => box?.checked ?? kept(KEPT.keys) !== "off";
box?.addEventListener("change", () => keep(KEPT.keys, box.checked ? "on" : "off"));

/** Show or hide the board in words; screen readers have it in both cases. */
function word(isShown) {
  root.classList.toggle("worded", isShown);
  button?.setAttribute("aria-pressed", String(isShown));
}

function turn(isShown) {
  keep(KEPT.words, isShown ? "on" : "off");
  word(isShown);
  const title = document.getElementById("in-words-title");
  if (isShown) title?.scrollIntoView({ block: "start" });
  return title;
}

word(kept(KEPT.words) === "on");

document.addEventListener("click", (event) => {
  const pressed = event.target.closest?.("[data-words]");
  if (!pressed) return;
  const isShown = pressed.dataset.words === "turn" && !root.classList.contains("worded");
  turn(isShown);
  if (pressed.dataset.words === "hide") button?.focus();
});

const isField = (target) => target.closest?.("input:not([type=checkbox], [type=range]), select, textarea");

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
  if (!isOn()) {
    const isPress = (event.key === "Enter" || event.key === " ") && event.target.closest?.("button, a, summary");
    if (OURS.test(event.key) && !isPress) event.stopImmediatePropagation();
    return;
  }
  if (event.key === "Escape") for (const menu of document.querySelectorAll("#choices-list details[open]")) menu.open = false;
  if (event.key.toLowerCase() !== "b" || event.repeat) return;
  const isShown = !root.classList.contains("worded");
  const title = turn(isShown);
  if (isShown) title?.focus({ preventScroll: true });
  else if (document.activeElement === title) document.getElementById("status")?.focus({ preventScroll: true });
}, true);
