// Gives every player a long name, and returns what is wrong with the layout of the table.
name => {
  for (const each of document.querySelectorAll(".surface .name")) each.textContent = name;
  const isClipped = (each) => each && (getComputedStyle(each).clipPath !== "none" || isClipped(each.parentElement));
  const seen = (each) => each.checkVisibility({ visibilityProperty: true }) && !isClipped(each);
  const cutTo = (rect, from) => {
    let { left, top, right, bottom } = rect;
    for (let at = from; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const box = at.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    return { left, top, right, bottom };
  };
  const surface = document.getElementById("board");
  const [texts, faults] = [[], []];
  const walker = document.createTreeWalker(surface, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const [node, inside] = [walker.currentNode, walker.currentNode.parentElement];
    if (!node.data.trim() || !seen(inside) || inside.closest("title, desc") || inside.closest(".middle") && document.getElementById("end")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) texts.push([cutTo(rect, inside), node.data.trim(), inside.ownerSVGElement ?? node]);
  }
  for (const [number, [one, text, picture]] of texts.entries()) {
    if (one.right > innerWidth + 2 || one.bottom > innerHeight + 2 || one.left < -2) faults.push(`off the screen: ${text}`);
    for (const [other, its, its_picture] of texts.slice(number + 1)) {
      if (picture === its_picture) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 2 && down > 2) faults.push(`overlap: ${text} / ${its} ${Math.round(across)}x${Math.round(down)}`);
    }
  }
  for (const each of surface.querySelectorAll("p, span, b, small, button, h2, label")) {
    if (seen(each) && !each.matches(".name, .ticker, .ticker *") && each.clientWidth && each.scrollWidth > each.clientWidth + 2) {
      faults.push(`cut: ${each.className} ${each.textContent.trim()}`);
    }
  }
  for (const each of document.querySelectorAll("header button, .surface button, .surface a, .surface summary, .surface label")) {
    const { width, height } = each.getBoundingClientRect();
    if (seen(each) && Math.min(width, height) < 43.5) faults.push(`small: ${each.id} ${each.textContent.trim()} ${width}x${height}`);
  }
  for (const each of surface.querySelectorAll("#players li, #middle > svg, #things svg, #status, #primary, #instead, #switch, .pen")) {
    const { left, top, right, bottom, width } = each.getBoundingClientRect();
    if (width && (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1)) faults.push(`off the screen: ${each.id || each.className.baseVal}`);
  }
  const primary = document.getElementById("primary");
  if (primary && primary.scrollHeight > primary.clientHeight + 2) faults.push(`cut: ${primary.textContent.trim()}`);
  if (innerWidth > 1000 && document.documentElement.scrollHeight > innerHeight) faults.push("the page scrolls");
  return faults;
}
