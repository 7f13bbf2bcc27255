// Makes one tree of elements like another by their ids, so that focus, selection and running motion stay where they are.

/** Make the children and attributes of `old` those of `fresh`. */
export function patch(old, fresh) {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.localName === "input" && old.type === "checkbox") return;
  if (old.localName === "details" && old.open) old.setAttribute("open", "");
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
      // What has the focus stays where it is in the tree; everything else is moved around it.
      if (here.contains(document.activeElement)) {
        while (at && at !== here) at = removed(at);
      } else old.insertBefore(here, at);
    }
    if (here.nodeType === Node.ELEMENT_NODE) patch(here, wanted);
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
