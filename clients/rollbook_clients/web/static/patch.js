// Makes a tree of elements equal to another one by their ids, keeping focus, selection and running animations.

/** Make `old` equal to `fresh`. If the focused element goes, the one with its id, or the nearest, gets the focus. */
export function patch(old, fresh) {
  const focused = document.activeElement;
  const around = [];
  for (let each = focused; each && each !== document.body; each = each.parentElement) if (each.id) around.push(each.id);
  patchElement(old, fresh);
  // Do not move the focus into the tree if it was not there before.
  if (focused !== document.body && !canHaveFocus(document.activeElement)) focusNear(around);
}

/** The body is the active element if there is no focus; a hidden element loses the focus a moment later. */
const canHaveFocus = (element) => element !== null && element !== document.body && element.checkVisibility();

/** Focus the first of these elements, innermost first, that can take the focus or has an entry point for it. */
function focusNear(ids) {
  for (const id of ids) {
    const place = document.getElementById(id);
    if (!place) continue;
    for (const each of [place, ...place.querySelectorAll('[tabindex="-1"]')]) {
      if (each.checkVisibility()) each.focus();
      if (canHaveFocus(document.activeElement)) return;
    }
  }
}

function patchElement(old, fresh) {
  const wasOpen = old.localName === "details" && old.open;
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (wasOpen) old.open = true;
  if (old.localName === "input" && old.type === "checkbox") old.checked = fresh.checked;
  patchChildren(old, fresh);
}

function patchChildren(old, fresh) {
  const known = new Map();
  for (const child of old.children) if (child.id) known.set(child.id, child);
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    let here = wanted.id ? known.get(wanted.id) : at;
    if (wanted.id && here) known.delete(wanted.id);
    if (!here || here.nodeType !== wanted.nodeType || here.localName !== wanted.localName || (here.id ?? "") !== (wanted.id ?? "")) {
      here = document.importNode(wanted, true);
      old.insertBefore(here, at);
      continue;
    }
    if (here !== at) {
      // Moving the focused element in the tree would lose the focus, so the other elements move around it.
      if (here.contains(document.activeElement)) {
        while (at && at !== here) at = removed(at);
      } else old.insertBefore(here, at);
    }
    if (here.nodeType === Node.ELEMENT_NODE) patchElement(here, wanted);
    else if (here.data !== wanted.data) here.data = wanted.data;
    at = here.nextSibling;
  }
  while (at) at = removed(at);
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}
