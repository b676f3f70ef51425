// A reading as one picture to keep: an SVG that needs no style sheet, with all tokens of the text,
// also those scrolled out of sight. Knows the figure's nodes; knows no weights and no sentence.

const TOP = 30, BOTTOM = 34;

// Text in the looks of a node, standing in the middle of a box.
function write(whole, node, text, box, how = {}) {
  const { color, fontFamily } = getComputedStyle(node), size = how.size ?? 14;
  const at = { x: box.x + (how.indent ?? 4), y: box.y + box.height / 2, fill: color };
  const font = { "font-family": fontFamily, "font-size": size, "dominant-baseline": "central" };
  draw("text", { ...at, ...font, "xml:space": "preserve", ...how.set }, whole, text);
}

// Where a node stands in the picture: below the title, as if nothing were scrolled.
function boxOf({ list }, node) {
  const frame = list.parentElement.getBoundingClientRect(), box = node.getBoundingClientRect();
  const y = box.y - list.getBoundingClientRect().y + list.scrollTop + TOP;
  return { x: box.x - frame.x + 8, y, width: box.width, height: box.height };
}

const solid = (colour) => colour && !/^(transparent|rgba\(.*, 0\))$/.test(colour);

function saveChip(view, whole, chip) {
  const [text, position, bar, number] = chip.children, box = boxOf(view, text);
  const unseen = chip.classList.contains("unseen"), tall = view.meta.variant === "tall";
  const { backgroundColor, boxShadow, textDecorationLine } = getComputedStyle(text);
  const ring = boxShadow.match(/^rgba?\([^)]*\)/)?.[0];
  const fill = solid(backgroundColor) ? backgroundColor : "none";
  const edge = ring ? { stroke: ring, "stroke-width": 2 } : {};
  draw("rect", { ...box, rx: 4, fill, ...edge }, whole);
  const row = { ...box, height: tall ? box.height : box.height - 13 };
  const set = { "fill-opacity": unseen ? 0.45 : 1, "text-decoration": textDecorationLine };
  write(whole, text, text.textContent, row, { size: tall ? 14 : 16, set });
  if (tall) return saveBar(view, whole, position, bar, number);
  const below = { ...box, y: box.y + box.height - 14, height: 13 };
  const { fontFamily } = getComputedStyle(view.now);
  const middle = { "text-anchor": "middle", "font-family": fontFamily };
  const how = { size: 10.5, indent: box.width / 2, set: middle };
  write(whole, text, text.dataset.weight, below, how);
}

function saveBar(view, whole, position, bar, number) {
  const box = boxOf(view, bar), share = Number(bar.style.getPropertyValue("--share"));
  const { attention } = view.meta.colours, mode = readTheme(view.host).dark ? "dark" : "light";
  draw("rect", { ...box, width: box.width * share, fill: attention[mode] }, whole);
  write(whole, position, position.textContent, boxOf(view, position), { size: 11, indent: 14 });
  write(whole, number, number.textContent, boxOf(view, number), { size: 12, indent: 8 });
}

function saveArcs(view, whole) {
  const { x } = boxOf(view, view.svg), own = [...view.arcs.querySelectorAll("path")];
  const { y } = boxOf(view, view.list.children[0]);
  const group = draw("g", { transform: `translate(${x},${y})` }, whole);
  for (const path of own) {
    const copy = path.cloneNode();
    copy.removeAttribute("class");
    copy.setAttribute("stroke", getComputedStyle(path).stroke);
    copy.setAttribute("fill", "none");
    group.append(copy);
  }
}

// What the colours, or the bars, say: from 0 to 1.
function saveScale(view, whole, y) {
  const { amount, shades, meta, host } = view, at = { y: y + 5, height: 10 };
  const full = meta.colours.attention[readTheme(host).dark ? "dark" : "light"];
  const colour = (fill) => (meta.variant === "tall" ? full : fill);
  write(whole, amount, "0", { x: 4, y, height: 20 }, { size: 12 });
  shades.forEach(([fill], n) => {
    draw("rect", { ...at, x: 20 + n / 2, width: 0.6, fill: colour(fill) }, whole);
  });
  write(whole, amount, `1 · ${amount.textContent}`, { x: 150, y, height: 20 }, { size: 12 });
}

function saveReading(view) {
  const { list, now, host, meta } = view, tall = meta.variant === "tall";
  const width = list.parentElement.clientWidth + 16;
  const size = { width, height: TOP + list.scrollHeight + BOTTOM };
  const whole = draw("svg", { xmlns: SVG, ...size });
  draw("rect", { ...size, fill: readTheme(host).background }, whole);
  const title = { x: 4, y: 4, height: TOP - 8 };
  write(whole, now, now.textContent, title, { set: { "font-weight": 600 } });
  if (tall) saveArcs(view, whole);
  for (const chip of list.children) saveChip(view, whole, chip);
  saveScale(view, whole, size.height - BOTTOM + 8);
  const source = new XMLSerializer().serializeToString(whole);
  saveBlob(new Blob([source], { type: "image/svg+xml" }), `${fileName(meta.name)}.svg`);
}
