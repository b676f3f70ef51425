// Numbers as text, and files to keep: a picture as PNG, a table as CSV.
// Knows numbers and canvases; knows no figure and no sentence.

// The shortest decimal that reads back as the same float32; "" for a masked value.
function shortest(value) {
  if (!Number.isFinite(value)) return "";
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

// So many significant digits at most, with a true minus sign; a very small number as 2.5e-6.
function digits(value, count) {
  const rounded = Number(value.toPrecision(count));
  const small = rounded !== 0 && Math.abs(rounded) < 1e-4;
  return (small ? rounded.toExponential() : String(rounded)).replaceAll("-", "\u2212");
}

// A spreadsheet runs a cell that starts with = + - or @ as a formula; a token may look like that.
function csvText(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

// A name that every file system takes: small letters, digits, dot, underscore and hyphen.
function fileName(name) {
  const safe = name.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "");
  return safe || "figure";
}

function saveBlob(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The canvases, one upon the other, on the page background: a transparent PNG is unreadable in a
// viewer of the other theme.
function savePng(canvases, background, name) {
  const copy = element("canvas");
  copy.width = canvases[0].width;
  copy.height = canvases[0].height;
  const context = copy.getContext("2d");
  context.fillStyle = background;
  context.fillRect(0, 0, copy.width, copy.height);
  for (const canvas of canvases) context.drawImage(canvas, 0, 0);
  copy.toBlob((blob) => saveBlob(blob, name));
}

// The byte order mark makes a spreadsheet read the file as UTF-8.
function saveCsv(lines, name) {
  const text = "\ufeff" + lines.join("\r\n") + "\r\n";
  saveBlob(new Blob([text], { type: "text/csv;charset=utf-8" }), name);
}
