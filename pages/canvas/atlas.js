// Every head's attention map, small: a column per layer, a row per head, one scale for all.
// Knows codes 0..255 and no sentence. An item is [layer, head].

const MOST_MAP = 46, MOST_HEIGHT = 380, BESIDE = 20, BELOW = 18, SPACE = 2;

export default drawn({
  state: "head",
  read: (meta, { codes }) => ({ codes: codes.data, shape: codes.shape }),
  place: placeAtlas,
  base: paintAtlas,
  over: paintAtlasFrames,
  at: headAt,
  after: headAfterKey,
  size: (view) => view.shape.slice(0, 2),
  words: (view, [layer, head]) => ({ layer, head, block: view.meta.block }),
  chosen: (meta) => meta.framed,
});

// ---- places (CSS pixels) and painting -----------------------------------------------------------

// The maps fill the width. Their side is whole device pixels; what rounding leaves is in the gaps.
function placeAtlas({ shape: [layers, heads], meta, theme }, outer, saves) {
  const ratio = window.devicePixelRatio || 1, sans = `11px ${theme.sans}`, top = 18;
  const step = Math.min(Math.max(MOST_MAP, MOST_HEIGHT / heads), (outer - BESIDE - 1) / layers);
  const side = Math.max(1, Math.floor((step - SPACE) * ratio));
  const scale = { low: "0", high: digits(meta.limit, 3), masked: "" };
  const wanted = BESIDE + Math.max(layers * step + 1, legendWidth(scale, sans, saves));
  const full = Math.min(outer, Math.ceil(wanted));
  const legend = placeLegend(scale, sans, BESIDE, full, saves);
  const total = Math.ceil(top + heads * step) + BELOW + LEGEND;
  return { ratio, outer, step, top, side, full, legend, total, sans };
}

function paintAtlas(canvas, view) {
  const { place, theme, shape: [layers, heads] } = view;
  const context = sharpen(canvas, place.full, place.total);
  const colours = pixelTable(view.luts[theme.dark ? 1 : 0]);
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < heads; head++) {
      const corner = mapCorner(place, layer, head).map((at) => Math.round(at * place.ratio));
      context.putImageData(mapImage(context, view, colours, layer, head), ...corner);
    }
  }
  context.font = place.sans;
  context.fillStyle = theme.faint;
  context.textBaseline = "middle";
  paintAtlasTitles(context, view);
  paintAtlasNumbers(context, view);
  paintLegend(context, view);
}

// The upper left corner of a map, on a device pixel.
function mapCorner({ step, top, ratio }, layer, head) {
  return [BESIDE + layer * step, top + head * step].map((at) => Math.round(at * ratio) / ratio);
}

// One map, device pixel by device pixel; where a pixel covers several cells it shows the largest.
function mapImage(context, { codes, shape, meta, place: { side } }, colours, layer, head) {
  const [, heads, queries, keys] = shape;
  const down = binPixels(queries, side), across = binPixels(keys, side);
  const image = context.createImageData(side, side);
  const pixels = new Uint32Array(image.data.buffer);
  const start = (layer * heads + head) * queries * keys;
  for (let y = 0; y < side; y++) {
    const last = lastKey(meta, down.to[y]);
    for (let x = 0; x < side && across.from[x] * meta.block <= last; x++) {
      let most = 0;
      for (let query = down.from[y]; query < down.to[y]; query++) {
        const row = start + query * keys;
        for (let key = across.from[x]; key < across.to[x]; key++) {
          most = Math.max(most, codes[row + key]);
        }
      }
      pixels[y * side + x] = colours[most];
    }
  }
  return image;
}

// The last key that a query before block `end` may see. Later ones stay blank: they are not zero.
function lastKey({ queries, keys, block }, end) {
  return Math.min(queries, end * block) - 1 + keys - queries;
}

function paintAtlasTitles(context, { meta, place }) {
  const { head, layer, reduced } = meta.labels, titles = `${head} \u2193   ${layer} \u2192`;
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

function paintAtlasFrames(canvas, { place, theme }, chosen, hover) {
  const context = sharpen(canvas, place.full, place.total), side = place.side / place.ratio;
  const frame = (item, colour, thick) => {
    const [x, y] = mapCorner(place, ...item);
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(x - 1.5, y - 1.5, side + 3, side + 3);
  };
  if (hover) frame(hover, theme.faint, 1.5);
  if (!chosen) return;
  frame(chosen, theme.background, 6);
  frame(chosen, theme.text, 2.5);
}

// ---- finding a head -----------------------------------------------------------------------------

function headAt({ place, shape: [layers, heads] }, event) {
  const layer = Math.floor((event.offsetX - BESIDE) / place.step);
  const head = Math.floor((event.offsetY - place.top) / place.step);
  const inside = layer >= 0 && layer < layers && head >= 0 && head < heads;
  return inside ? [layer, head] : null;
}

// Layers run across and heads down, so the walk is that of a matrix [head, layer].
function headAfterKey({ shape: [layers, heads] }, event, chosen) {
  const cell = cellAfterKey(event, chosen && [chosen[1], chosen[0]], [heads, layers]);
  return cell && [cell[1], cell[0]];
}
