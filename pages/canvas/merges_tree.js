// One tree for each token of a piece: the symbols below, what they were joined to above.
// Knows symbols, merges and tokens of viz/merging.py; knows no sentence and no state of the page.

const LEVEL = 38; // pixels from one row of boxes to the next
const BOX = 23;
const BYTES = 15; // room for the bytes below the symbols
const ID = 18; // room for the id above a token

// The parts that are there after `step` merges: [start, stop] each, in order.
function partsAt({ symbols, merges }, step) {
  const gone = new Set(merges.slice(0, step).map(({ middle }) => middle));
  const cuts = Array.from({ length: symbols.length + 1 }, (_, at) => at);
  const left = cuts.filter((at) => !gone.has(at));
  return left.slice(1).map((stop, n) => [left[n], stop]);
}

// What stands in the box of a part: of a symbol, or of the merge that made it.
function namesOf({ symbols, merges }) {
  const names = new Map(symbols.map((symbol, n) => [`${n}-${n + 1}`, { ...symbol, made: 0 }]));
  merges.forEach((merge, n) => {
    names.set(`${merge.start}-${merge.stop}`, { ...merge, made: n + 1 });
  });
  return (start, stop) => names.get(`${start}-${stop}`);
}

function widthOf(text, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  return pen.measureText(text).width;
}

const idOf = ({ labels }, token) => fill(labels.id, { id: token.ids.join(" ") });

// Pixels for one symbol: the widest of its text and its bytes, and every joined text and every id
// must fit above the symbols that it covers.
function slotOf(meta, mono) {
  const { symbols, merges, tokens } = meta, font = `14px ${mono}`;
  const texts = symbols.map(({ text }) => widthOf(text, font) + 16);
  const bytes = symbols.map((symbol) => widthOf(symbol.bytes, `10px ${mono}`) + 6);
  const joined = merges.map(({ start, stop, text }) => (widthOf(text, font) + 16) / (stop - start));
  const ids = tokens.map((token) => {
    return (widthOf(idOf(meta, token), `600 12px ${mono}`) + 6) / (token.stop - token.start);
  });
  return Math.ceil([...texts, ...bytes, ...joined, ...ids].reduce((a, b) => Math.max(a, b), 24));
}

function place({ start, height }, stop, token, slot) {
  const x = ((start + stop) / 2 - token.start) * slot;
  return { x, y: ID + (token.height - height) * LEVEL + BOX / 2 };
}

function drawBox(svg, at, name, slot, classes) {
  const group = draw("g", { class: classes, "data-made": name.made }, svg);
  const wide = Math.max(slot - 4, at.wide);
  draw("rect", { x: at.x - wide / 2, y: at.y - BOX / 2, width: wide, height: BOX, rx: 5 }, group);
  draw("text", { class: "word", x: at.x, y: at.y }, group, name.text);
  return group;
}

function drawLeaves(svg, { symbols }, token, slot) {
  for (let n = token.start; n < token.stop; n++) {
    const at = { ...place({ start: n, height: 0 }, n + 1, token, slot), wide: 0 };
    const group = drawBox(svg, at, { ...symbols[n], made: 0 }, slot, "box leaf");
    group.dataset.part = `${n}-${n + 1}`;
    draw("text", { class: "bytes", x: at.x, y: at.y + BOX / 2 + 9 }, group, symbols[n].bytes);
  }
}

// The lines of a merge lie below all boxes, hence their own group.
function drawMerge(lines, boxes, meta, n, token, slot, heights, mono) {
  const merge = meta.merges[n], at = place(merge, merge.stop, token, slot);
  for (const [start, stop] of [[merge.start, merge.middle], [merge.middle, merge.stop]]) {
    const part = place({ start, height: heights.get(`${start}-${stop}`) ?? 0 }, stop, token, slot);
    const path = `M${part.x} ${part.y - BOX / 2}L${at.x} ${at.y + BOX / 2}`;
    draw("path", { class: "line", d: path, "data-made": n + 1 }, lines);
  }
  at.wide = widthOf(merge.text, `14px ${mono}`) + 14;
  const group = drawBox(boxes, at, { ...merge, made: n + 1 }, 0, "box");
  group.dataset.part = `${merge.start}-${merge.stop}`;
}

function drawTree(meta, token, slot, heights, mono) {
  const inside = meta.merges.flatMap(({ start, stop }, n) =>
    token.start <= start && stop <= token.stop ? [n] : []);
  token.height = Math.max(0, ...inside.map((n) => meta.merges[n].height));
  const size = {
    width: (token.stop - token.start) * slot, height: ID + token.height * LEVEL + BOX + BYTES,
  };
  const svg = draw("svg", { class: "tree", ...size, "aria-hidden": "true" });
  const [lines, boxes] = [draw("g", {}, svg), draw("g", {}, svg)];
  drawLeaves(boxes, meta, token, slot);
  for (const n of inside) drawMerge(lines, boxes, meta, n, token, slot, heights, mono);
  const made = Math.max(0, ...inside) + (inside.length ? 1 : 0);
  draw("text", { class: "id", x: size.width / 2, y: 9, "data-made": made }, svg, idOf(meta, token));
  return svg;
}

// All trees, in the order of the text.
function drawTrees(meta, mono) {
  const slot = slotOf(meta, mono);
  const heights = new Map(
    meta.merges.map(({ start, stop, height }) => [`${start}-${stop}`, height]),
  );
  return meta.tokens.map((token) => drawTree(meta, token, slot, heights, mono));
}
