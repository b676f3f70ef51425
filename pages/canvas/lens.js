// The logit lens: a row per point of the stream, a column per token of the text; each cell names the
// token that is first there. Knows texts and codes 0..255 and no sentence. An item is [row, column].

const CELL_HEIGHT = 18, MOST_ACROSS = 132, LEAST_ACROSS = 26, HEAD = 38, EDGE = 3, INSET = 6;
const LENS_MEASURES = ["answer", "target", "first", "rank", "entropy", "divergence"];

export default drawn({
  state: "cell",
  read: (meta, arrays) => ({ ...arrays, shape: arrays.codes.shape }),
  place: placeLens,
  base: paintLens,
  over: paintLensFrames,
  at: lensCellAt,
  after: (view, event, chosen) => cellAfterKey(event, chosen, view.shape),
  size: (view) => view.shape,
  words: lensWords,
  chosen: (meta) => meta.selected,
  csv: lensLines,
});

const lensIndex = ({ shape }, [row, column]) => row * shape[1] + column;

const percentOf = (prob) => `${digits(100 * prob, 3)}%`;

function lensWords(view, item) {
  const { meta } = view, [row, column] = item, i = lensIndex(view, item);
  return {
    row: meta.rows[row], column: meta.columns[column], position: meta.first_column + column,
    row_title: meta.row_title, column_title: meta.column_title, token: meta.texts[row][column],
    answer: meta.texts.at(-1)[column], target: meta.labels.target,
    first_prob: percentOf(view.first.data[i]), answer_prob: percentOf(view.answer.data[i]),
    target_prob: percentOf(view.target.data[i]),
    rank: view.rank.data[i].toLocaleString("en"),
    entropy: digits(view.entropy.data[i], 3), divergence: digits(view.divergence.data[i], 3),
  };
}

// A line for each cell: what is chosen in the grid stands in one column of numbers.
function lensLines(view) {
  const { meta, shape: [rows, columns] } = view, lines = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const i = lensIndex(view, [row, column]);
      const texts = [meta.rows[row], meta.columns[column], meta.texts[row][column]].map(csvText);
      const numbers = LENS_MEASURES.map((name) => view[name]);
      lines.push([texts[0], meta.first_column + column, ...texts.slice(1),
        ...numbers.map(({ data }) => shortest(data[i]))].join(","));
    }
  }
  return ["after,position,token,first,answer_probability,target_probability,first_probability,"
    + "target_rank,entropy_nat,divergence_nat", ...lines];
}

// ---- places (CSS pixels) ------------------------------------------------------------------------

function placeLens({ meta, shape: [rows, columns], theme }, outer, saves) {
  const mono = `12px ${theme.mono}`, sans = `12px ${theme.sans}`;
  const left = Math.ceil(widest([...meta.rows, `${meta.row_title} \u2193`], mono, outer / 3)) + 10;
  const room = (outer - left - EDGE) / columns;
  const cw = Math.max(LEAST_ACROSS, Math.min(MOST_ACROSS, room)), ch = CELL_HEIGHT;
  const scale = { low: meta.low, high: meta.high, masked: "", several: meta.labels.scale };
  const wanted = left + Math.max(cw * columns + EDGE, legendWidth(scale, sans, saves) + 190);
  const full = Math.min(outer, Math.ceil(wanted));
  const total = HEAD + ch * rows + 6 + LEGEND;
  const legend = placeLegend(scale, sans, left, full, saves);
  return { outer, full, left, top: HEAD, cw, ch, mono, sans, total, legend };
}

function lensCellAt({ place: { left, top, cw, ch }, shape: [rows, columns] }, event) {
  const row = Math.floor((event.offsetY - top) / ch);
  const column = Math.floor((event.offsetX - left) / cw);
  const inside = row >= 0 && row < rows && column >= 0 && column < columns;
  return inside ? [row, column] : null;
}

// ---- painting -----------------------------------------------------------------------------------

function paintLens(canvas, view) {
  const { place, shape: [rows, columns] } = view;
  const context = sharpen(canvas, place.outer, place.total);
  context.textBaseline = "middle";
  context.direction = "ltr"; // a cell is no sentence: what is cut is cut at its end
  paintLensNames(context, view);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) paintLensText(context, view, [row, column]);
  }
  paintLegend(context, view);
}

function paintLensNames(context, { meta, theme, place }) {
  const { left, top, cw, ch, sans, mono } = place;
  context.font = sans;
  context.fillStyle = theme.faint;
  context.textAlign = "right";
  context.fillText(ellipsis(context, `${meta.row_title} \u2193`, left - 8), left - 8, top - 12);
  context.textAlign = "left";
  context.fillText(ellipsis(context, `${meta.column_title} \u2192`, place.outer - left), left, 8);
  context.font = mono;
  context.fillStyle = theme.text;
  meta.columns.forEach((name, column) => {
    context.fillText(ellipsis(context, name, cw - 8), left + column * cw + INSET, top - 12);
  });
  context.textAlign = "right";
  meta.rows.forEach((name, row) => {
    context.fillText(ellipsis(context, name, left - 8), left - 8, top + (row + 0.5) * ch);
  });
}

// Bold, with a bar at its left edge, where the token is the one that the column ends with.
function paintLensText(context, view, item) {
  const { meta, theme, place, luts, codes, decided } = view, [row, column] = item;
  const [x, y, width, height] = lensBox(place, item), i = lensIndex(view, item);
  const colour = luts[theme.dark ? 1 : 0].subarray(codes.data[i] * 3, codes.data[i] * 3 + 3);
  const ink = luminanceOf(colour) > 0.18 ? "#000000" : "#ffffff";
  context.fillStyle = `rgb(${colour.join()})`;
  context.fillRect(x, y, width - 1, height - 1);
  context.fillStyle = ink;
  if (decided.data[i]) context.fillRect(x, y, 3, height - 1);
  context.font = decided.data[i] ? `bold ${place.mono}` : place.mono;
  context.textAlign = "left";
  const text = ellipsis(context, meta.texts[row][column], width - INSET - 3);
  context.fillText(text, x + INSET, y + height / 2);
}

function lensBox({ left, top, cw, ch }, [row, column]) {
  return [left + column * cw, top + row * ch, cw, ch];
}

function paintLensFrames(canvas, { place, theme }, chosen, hover) {
  const context = sharpen(canvas, place.outer, place.total);
  const frame = (item, colour, thick) => {
    const [x, y, width, height] = lensBox(place, item);
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(x - 0.5, y - 0.5, width, height);
  };
  if (hover) frame(hover, theme.text, 1.5);
  if (!chosen) return;
  frame(chosen, theme.background, 5);
  frame(chosen, theme.primary, 2.5);
  const [x, y, width, height] = lensBox(place, chosen);
  context.fillStyle = theme.primary;
  context.fillRect(place.left - 5, y, 3, height - 1);
  context.fillRect(x, place.top - 4, width - 1, 3);
}
