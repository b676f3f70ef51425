// Attention maps of many heads, small, on one scale for all: a column per layer and a row per head,
// or some of them in an order of their own.
// Knows codes 0..10000 and no sentence. An item is [layer, head]; a slot is its [column, row].

const MOST_MAP = 46, MOST_HEIGHT = 380, BESIDE = 20, BELOW = 18, SPACE = 2, ABOVE = 18;
const NAME = 15, NAMED = 52, AREA = 250, SMALL_MAP = 28, LARGE_MAP = 150, FULL = 10000;

export default drawn({
  state: "head",
  read: readAtlas,
  place: placeAtlas,
  base: paintAtlas,
  over: paintAtlasFrames,
  at: headAt,
  after: headAfterKey,
  size: (view) => view.shape,
  words: headWords,
  notes: headNotes,
  chosen: (meta) => meta.framed,
});

function readAtlas(meta, { codes, order, scores }) {
  const pair = (_, i) => [...order.data.subarray(2 * i, 2 * i + 2)];
  const items = Array.from({ length: order.shape[0] }, pair);
  const where = new Map(items.map((item, i) => [String(item), i]));
  return { codes: codes.data, scores, items, where, shape: meta.shape, pointed: null };
}

// ---- places (CSS pixels) ------------------------------------------------------------------------

// The maps fill the width. Their side is whole device pixels; what rounding leaves is in the gaps.
function placeAtlas(view, outer, saves) {
  const { meta, theme } = view, sans = `11px ${theme.sans}`;
  const ratio = window.devicePixelRatio || 1;
  const field = meta.grid ? placeGrid(view, outer) : placeList(view, outer);
  const side = Math.max(1, Math.floor((field.step - SPACE) * ratio));
  const scale = { low: "0", high: digits(meta.limit, 3), masked: "", several: meta.labels.scale };
  const across = Math.max(field.columns * field.step + 1, legendWidth(scale, sans, saves));
  const full = Math.min(outer, Math.ceil(field.left + across));
  const legend = placeLegend(scale, sans, field.left, full, saves);
  const total = Math.ceil(ABOVE + field.rows * field.tall) + field.below + LEGEND;
  return { ratio, outer, top: ABOVE, side, full, legend, total, sans, ...field };
}

function placeGrid({ shape: [columns, rows] }, outer) {
  const step = Math.min(Math.max(MOST_MAP, MOST_HEIGHT / rows), (outer - BESIDE - 1) / columns);
  return { step, tall: step, columns, rows, left: BESIDE, below: BELOW, named: 0 };
}

// As large as lets all of them take up about the same area, be they few or many.
function placeList({ items, meta }, outer) {
  const n = Math.max(1, items.length), wanted = Math.sqrt((outer * AREA) / n);
  const least = Math.min(LARGE_MAP, Math.max(SMALL_MAP, wanted));
  const columns = Math.max(1, Math.floor(outer / least)), rows = Math.ceil(n / columns);
  const step = Math.min(LARGE_MAP, outer / columns);
  const named = meta.names.length && step >= NAMED ? NAME : 0;
  return { step, tall: step + named, columns, rows, left: 0, below: 4, named };
}

// The upper left corner of a map, on a device pixel.
function mapCorner({ step, tall, left, top, named, ratio }, column, row) {
  const corner = [left + column * step, top + row * tall + named];
  return corner.map((at) => Math.round(at * ratio) / ratio);
}

// Where a head's map stands; null where it is not among those that are shown.
function slotOf({ meta, where, place: { columns } }, item) {
  if (meta.grid) return item;
  const i = where.get(String(item));
  return i === undefined ? null : [i % columns, Math.floor(i / columns)];
}

function itemIn({ meta, items, place: { columns, rows } }, [column, row]) {
  if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
  return meta.grid ? [column, row] : items[row * columns + column] ?? null;
}

// ---- painting -----------------------------------------------------------------------------------

function paintAtlas(canvas, view) {
  const { place, theme } = view;
  const context = sharpen(canvas, place.full, place.total);
  const table = pixelTable(view.luts[theme.dark ? 1 : 0]);
  view.items.forEach((item, i) => {
    const corner = mapCorner(place, ...slotOf(view, item));
    const [x, y] = corner.map((at) => Math.round(at * place.ratio));
    context.putImageData(mapImage(context, view, table, i), x, y);
  });
  context.font = place.sans;
  context.fillStyle = theme.faint;
  context.textBaseline = "middle";
  paintAtlasTitles(context, view);
  if (view.meta.grid) paintAtlasNumbers(context, view);
  else paintAtlasNames(context, view);
  paintLegend(context, view);
}

// One map, device pixel by device pixel; where a pixel covers several cells it shows the largest.
// What no query of a pixel sees stays blank: it is not zero.
function mapImage(context, view, table, i) {
  const { meta, place: { side } } = view, bins = binPixels(meta.cells, side);
  const image = context.createImageData(side, side);
  const pixels = new Uint32Array(image.data.buffer);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const cell = strongestSeen(view, i, bins.from[y], bins.to[y], bins.from[x], bins.to[x]);
      if (cell) pixels[y * side + x] = table[colourCode(meta, codeAt(view, i, ...cell))];
    }
  }
  return image;
}

function colourCode({ root }, code) {
  const amount = code / FULL;
  return Math.round(255 * (root ? Math.sqrt(amount) : amount));
}

// The code of a cell of map i: the rows of a map lie one after the other, each up to its diagonal.
function codeAt({ codes, meta: { cells } }, i, query, key) {
  return codes[(i * cells * (cells + 1) + query * (query + 1)) / 2 + key];
}

// Of some queries and keys the cell [query, key] with the largest weight; null where none is seen.
function strongestSeen(view, i, query0, query1, key0, key1) {
  const { items, meta } = view, window = meta.windows[items[i][0]] ?? Infinity;
  const left = Math.max(key0, meta.first ? 0 : 1);
  let best = null, most = -1;
  for (let query = query0; query < query1; query++) {
    for (let key = Math.max(left, query - window + 1); key < key1 && key <= query; key++) {
      const code = codeAt(view, i, query, key);
      if (code <= most) continue;
      most = code;
      best = [query, key];
    }
  }
  return best;
}

function paintAtlasTitles(context, { meta, place }) {
  const { head, layer, reduced } = meta.labels;
  const titles = meta.grid ? `${head} \u2193   ${layer} \u2192` : "";
  context.textAlign = "left";
  context.fillText(titles, 0, 7);
  if (meta.block === 1) return;
  const room = place.full - context.measureText(titles).width - 16;
  context.textAlign = "right";
  context.fillText(ellipsis(context, fill(reduced, { block: meta.block }), room), place.full, 7);
}

function paintAtlasNumbers(context, { place, shape: [layers, heads] }) {
  const half = place.side / place.ratio / 2;
  context.textAlign = "right";
  for (let head = 0; head < heads; head += tickStep(place.step, 11)) {
    context.fillText(head, BESIDE - 6, mapCorner(place, 0, head)[1] + half);
  }
  context.textAlign = "center";
  const each = Math.max(5, tickStep(place.step, 22)), last = layers - 1;
  for (let layer = 0; layer < layers; layer++) {
    const far = layer === last && (last % each) * place.step > 20;
    if (layer % each && !far) continue;
    const [x, y] = mapCorner(place, layer, heads);
    context.fillText(layer, Math.min(x + half, place.outer - 7), y + 7);
  }
}

function paintAtlasNames(context, view) {
  const { items, meta, place, theme } = view;
  if (!place.named) return;
  context.textAlign = "left";
  context.fillStyle = theme.text;
  items.forEach((item, i) => {
    const [x, y] = mapCorner(place, ...slotOf(view, item));
    context.fillText(ellipsis(context, meta.names[i], place.step - 4), x, y - NAME / 2);
  });
  context.fillStyle = theme.faint;
}

function paintAtlasFrames(canvas, view, chosen, hover) {
  const { place, theme } = view, side = place.side / place.ratio;
  const context = sharpen(canvas, place.full, place.total);
  const frame = (slot, colour, thick) => {
    const [x, y] = mapCorner(place, ...slot);
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(x - 1.5, y - 1.5, side + 3, side + 3);
  };
  if (hover) frame(slotOf(view, hover), theme.faint, 1.5);
  const slot = chosen && slotOf(view, chosen);
  if (!slot) return;
  frame(slot, theme.background, 6);
  frame(slot, theme.text, 2.5);
}

// ---- words --------------------------------------------------------------------------------------

function headWords({ meta }, [layer, head]) {
  return { layer, head, kv_head: Math.floor(head / meta.group), block: meta.block };
}

// What the pointed head does, and the cell under the pointer.
function headNotes(view) {
  const { meta, scores, pointed } = view;
  if (!pointed) return [];
  const [i, cell] = pointed, n = scores.shape[2];
  const [layer, head] = view.items[i], start = (layer * view.shape[1] + head) * n;
  const told = Array.from(scores.data.subarray(start, start + n), twoDigits);
  const lines = n ? meta.labels.scores.split("\n").map((line) => fill(line, told)) : [];
  return cell && meta.tokens.length ? [...lines, cellLine(view, i, cell)] : lines;
}

const twoDigits = (value) => (Number.isNaN(value) ? "\u2013" : value.toFixed(2));

function cellLine(view, i, [query, key]) {
  const { block, tokens, labels, limit } = view.meta;
  const end = (cell) => Math.min(tokens.length, (cell + 1) * block) - 1;
  return fill(block === 1 ? labels.cell : labels.cells, {
    query: tokens[query], query_index: query * block, query_last: end(query),
    key: tokens[key], key_index: key * block, key_last: end(key),
    value: ((codeAt(view, i, query, key) / FULL) * limit).toFixed(4),
  });
}

// ---- finding a head -----------------------------------------------------------------------------

function headAt(view, event) {
  const { place } = view;
  const column = Math.floor((event.offsetX - place.left) / place.step);
  const row = Math.floor((event.offsetY - place.top) / place.tall);
  const item = itemIn(view, [column, row]);
  const i = item ? view.where.get(String(item)) : 0;
  view.pointed = item && [i, cellAtPixel(view, i, mapCorner(place, column, row), event)];
  return item;
}

// The cell under the pointer; where a pixel covers several, the one whose colour it shows.
function cellAtPixel(view, i, [left, top], { offsetX, offsetY }) {
  const { meta, place: { ratio, side } } = view;
  const [x, y] = [offsetX - left, offsetY - top].map((offset) => (offset * ratio) / side);
  if (x < 0 || y < 0 || x >= 1 || y >= 1) return null;
  const bins = binPixels(meta.cells, side);
  return strongestSeen(view, i, ...spanAt(bins, y), ...spanAt(bins, x));
}

// In a grid a walk ends at its edges; in a list it goes on in the next row.
function headAfterKey(view, event, chosen) {
  const { items, meta, place, where } = view;
  if (meta.grid) {
    const cell = cellAfterKey(event, chosen && [chosen[1], chosen[0]], [place.rows, place.columns]);
    return cell && [cell[1], cell[0]];
  }
  const now = where.get(String(chosen)), step = STEPS[event.key];
  const cell = cellAfterKey(event, now === undefined ? null : [0, now], [1, items.length]);
  if (!cell || now === undefined || !step) return (cell && items[cell[1]]) ?? null;
  return items[now + step[0] * place.columns + step[1]] ?? chosen;
}
