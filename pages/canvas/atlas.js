// Every head's attention map, small: a column per layer, a row per head, one scale for all.
// Knows codes 0..255 and no sentence. An item is [layer, head].

const MOST_MAP = 46, MOST_HEIGHT = 380, LEAST = 440, BESIDE = 26, BELOW = 20, SPACE = 3;

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

function placeAtlas({ shape: [layers, heads] }, outer) {
  const ratio = window.devicePixelRatio || 1;
  const most = Math.max(MOST_MAP, MOST_HEIGHT / heads);
  // Whole device pixels, or neighbouring maps would differ in width.
  const step = Math.floor(Math.min(most, (outer - BESIDE - 2) / layers) * ratio) / ratio;
  const top = 22, side = Math.max(1, Math.round((step - SPACE) * ratio));
  const width = Math.min(outer, Math.max(LEAST, BESIDE + layers * step + 2));
  const total = top + heads * step + BELOW;
  return { ratio, outer, step, top, side, width, total };
}

function paintAtlas(canvas, view) {
  const { place, theme, shape: [layers, heads] } = view;
  const context = sharpen(canvas, place.width, place.total);
  const colours = pixelTable(view.luts[theme.dark ? 1 : 0]);
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < heads; head++) {
      const [x, y] = mapCorner(place, layer, head).map((at) => Math.round(at * place.ratio));
      context.putImageData(mapImage(context, view, colours, layer, head), x, y);
    }
  }
  paintAtlasNames(context, view);
}

const mapCorner = ({ step, top }, layer, head) => [BESIDE + layer * step, top + head * step];

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

function paintAtlasNames(context, view) {
  const { meta, place, theme, shape: [layers, heads] } = view;
  context.font = `11px ${theme.sans}`;
  context.fillStyle = theme.faint;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillText(`${meta.labels.head} \u2193   ${meta.labels.layer} \u2192`, 0, 7);
  const scale = place.width - 180;
  paintScale(context, view, "0", digits(meta.limit, 3), scale, 7);
  context.textAlign = "right";
  const half = (place.step - SPACE) / 2;
  for (let head = 0; head < heads; head++) {
    context.fillText(head, BESIDE - 8, place.top + head * place.step + half);
  }
  if (meta.block > 1) {
    context.fillText(fill(meta.labels.reduced, { block: meta.block }), scale - 20, 7);
  }
  context.textAlign = "center";
  for (let layer = 0; layer < layers; layer++) {
    if (layer % 5 && layer !== layers - 1) continue;
    const [x, y] = mapCorner(place, layer, heads);
    context.fillText(layer, x + half, y + 8);
  }
}

function paintAtlasFrames(canvas, { place, theme }, chosen, hover) {
  const context = sharpen(canvas, place.width, place.total);
  const frame = (item, colour, thick) => {
    const [x, y] = mapCorner(place, ...item), side = place.step - SPACE;
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(x - 1.5, y - 1.5, side + 3, side + 3);
  };
  if (hover) frame(hover, theme.faint, 1.5);
  if (!chosen) return;
  frame(chosen, theme.background, 5);
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
