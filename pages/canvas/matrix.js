// A matrix of float32 values and its chosen cell. The number shown is the float32 itself.
// Knows values and words; knows no sentence and no pixel: matrix_place.js, matrix_paint.js and
// matrix_lens.js do.

export default drawn({
  state: "cell",
  read: (meta, arrays) => {
    const { values, shape } = whole(meta, arrays.values), shades = shadesOf(meta, values, arrays);
    return { values, shape, shades, masked: (shades ?? values).some((value) => isMasked(value)) };
  },
  place: placeMatrix,
  base: paintBase,
  over: paintOver,
  at: cellAt,
  beside: lensAt,
  after: (view, event, chosen) => cellAfterKey(event, chosen, view.shape),
  size: (view) => view.shape,
  words: cellWords,
  notes: ({ place }) => (place.several ? [place.several] : []),
  chosen: (meta) => meta.selected,
  csv: csvLines,
});

const isMasked = (value) => Number.isNaN(value) || value === -Infinity;

// The cells in rows of equal length; those that were not sent, above the diagonal, are masked.
function whole({ packed, first_row: first }, { data, shape }) {
  if (!packed) return { values: data, shape };
  const [rows, columns] = packed, values = new Float32Array(rows * columns).fill(NaN);
  for (let row = 0, at = 0; row < rows; row++) {
    const count = Math.min(columns, first + row + 1);
    values.set(data.subarray(at, at + count), row * columns);
    at += count;
  }
  return { values, shape: packed };
}

// Where rows have scales of their own, each cell as a part of full colour: NaN for one without.
function shadesOf({ left_out: out }, values, { row_limits: limits }) {
  if (!limits) return null;
  const columns = values.length / limits.data.length;
  return values.map((value, i) => {
    return i % columns === out ? NaN : value / limits.data[Math.floor(i / columns)];
  });
}

function valueAt({ values, shape }, row, column) {
  return values[row * shape[1] + column];
}

const columnNumber = (meta, column) => meta.first_column + column * meta.column_step;

function columnName(meta, column) {
  return meta.columns ? meta.columns[column] : columnNumber(meta, column);
}

function cellWords(view, [row, column]) {
  const { meta } = view, value = valueAt(view, row, column);
  const shown = value === Infinity ? "\u221e" : shortest(value).replaceAll("-", "\u2212");
  return {
    row: meta.rows[row], column: columnName(meta, column),
    row_index: meta.first_row + row, column_index: columnNumber(meta, column),
    row_title: meta.row_title, column_title: meta.column_title,
    value: isMasked(value) ? meta.labels.masked : shown,
    share: view.shades && !isMasked(value) ? shareWords(view, row * view.shape[1] + column) : "",
  };
}

function shareWords({ meta, shades }, index) {
  const share = shades[index], { left_out: without, share: words } = meta.labels;
  return isMasked(share) ? without : fill(words, { share: digits(share, 4) });
}

// The number as it fits into a cell: two or three digits.
function brief(value) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "";
  if (size !== 0 && (size < 0.001 || size >= 10000)) {
    return value.toExponential(0).replace("e+", "e").replaceAll("-", "\u2212");
  }
  return digits(value, size >= 1000 ? 4 : size < 0.1 ? 2 : 3);
}

// The index of the largest magnitude in a block of cells: what a pixel shows that covers several.
// Masked cells lose to any number. Where rows have scales of their own, the strongest colour.
function strongest({ values: numbers, shades, shape }, row0, row1, column0, column1) {
  const values = shades ?? numbers;
  let best = row0 * shape[1] + column0, most = -1;
  for (let row = row0; row < row1; row++) {
    for (let i = row * shape[1] + column0; i < row * shape[1] + column1; i++) {
      const size = values[i] === -Infinity ? -1 : Math.abs(values[i]);
      if (size > most) {
        most = size;
        best = i;
      }
    }
  }
  return best;
}

// -1 for masked, else the colour code 0..255; with `low` on a logarithmic scale that begins there.
function codeOf(value, { palette, limit, low }) {
  if (isMasked(value)) return -1;
  const amount = low ? Math.log(value / low) / Math.log(limit / low) : value / limit;
  const part = palette === "signed" ? (amount + 1) / 2 : amount;
  return Math.round(255 * Math.min(1, Math.max(0, part)));
}

// The same of a cell, by its index.
function codeAt({ meta, values, shades }, index) {
  return shades ? codeOf(shades[index], { limit: 1 }) : codeOf(values[index], meta);
}

// Names as a file has them: those that repeat carry their number, as they do where one points.
function apart(names, numberOf) {
  const alone = names.map((name) => names.indexOf(name) === names.lastIndexOf(name));
  return names.map((name, i) => (alone[i] ? name : `${name} (${numberOf(i)})`));
}

function csvLines({ meta, values, shape: [rows, columns] }) {
  const across = Array.from({ length: columns }, (_, i) => String(columnName(meta, i)));
  const names = apart(across, (i) => columnNumber(meta, i));
  const down = apart(meta.rows, (i) => meta.first_row + i);
  const head = [csvText(`${meta.row_title} / ${meta.column_title}`), ...names.map(csvText)];
  const lines = [head.join(",")];
  for (let row = 0; row < rows; row++) {
    const numbers = Array.from(values.subarray(row * columns, (row + 1) * columns), shortest);
    lines.push([csvText(down[row]), ...numbers].join(","));
  }
  return lines;
}

// The cell under the pointer; where a pixel covers several cells, the one whose colour it shows.
function cellAt(view, event) {
  const { left, top, width, height, across, down } = view.place;
  const x = (event.offsetX - left) / width, y = (event.offsetY - top) / height;
  if (x < 0 || y < 0 || x >= 1 || y >= 1) return null;
  const index = strongest(view, ...spanAt(down, y), ...spanAt(across, x));
  return [Math.floor(index / view.shape[1]), index % view.shape[1]];
}
