// How dials are drawn: where they lie, circles, hands, arcs and names. Knows the payload of
// viz/dials.py; knows no reader and no sentence.

const FULL = 2 * Math.PI, BIG = 2, MOST_RINGS = 4;
const LINE = 16, LABEL = 24;
const CORNERS = [-1, 1, -3, 3].map((n) => (n * Math.PI) / 4); // where a radius may be written

// ---- where things lie ---------------------------------------------------------------------------

// {columns, cell, radius, row, top, left}: the same for every dial, in CSS pixels. A large dial has
// the name of its axis to the right.
function placeDials({ dials }, width) {
  const lines = Math.max(...dials.map((dial) => dial.lines.length)) * LINE;
  if (dials.length <= BIG) {
    const columns = Math.max(1, Math.min(dials.length, Math.floor(width / 230)));
    const beside = widest(dials.map((dial) => dial.axes[0]), "12px sans-serif") + 24;
    const cell = width / columns, radius = Math.max(36, Math.min(125, (cell - beside - 34) / 2));
    const left = Math.max(34, (cell - beside - 2 * radius) / 2) + radius;
    return { columns, cell, radius, left, top: LABEL + 40, row: LABEL + 74 + 2 * radius + lines };
  }
  const least = dials.length > 64 ? 62 : 78;
  const rows = Math.ceil(dials.length / Math.max(1, Math.floor(width / least)));
  const columns = Math.ceil(dials.length / rows), cell = Math.min(112, width / columns);
  const radius = Math.min(34, cell * 0.38);
  return { columns, cell, radius, left: cell / 2, top: 6, row: 2 * radius + 18 + LINE + lines };
}

function centreOf(place, index) {
  const { columns, cell, radius, left, row, top } = place;
  return [(index % columns) * cell + left, Math.floor(index / columns) * row + top + radius];
}

// The dial at a point of the canvas, or -1 beside all of them.
function dialAt({ dials }, place, x, y) {
  return dials.findIndex((_, i) => {
    const [centre, middle] = centreOf(place, i), top = middle - place.radius;
    return Math.abs(x - centre) < place.cell / 2 && y >= top && y < top + place.row;
  });
}

// The points of a turn: one ring, or where it goes round more often a spiral of a few rings.
// Beyond these, only what is left over after whole turns.
function arcPoints([from, by], radius) {
  const whole = Math.abs(by) <= MOST_RINGS * FULL ? by : by % FULL, points = [];
  const steps = Math.max(2, Math.ceil(Math.abs(whole) / 0.05));
  for (let step = 0; step <= steps; step++) {
    const angle = (whole * step) / steps;
    const r = radius * (0.3 + (0.07 * Math.abs(angle)) / FULL);
    points.push([r * Math.cos(from + angle), -r * Math.sin(from + angle)]);
  }
  return points;
}

// ---- painting -----------------------------------------------------------------------------------

function line(context, points) {
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

function arrowHead(context, [x, y], angle, size) {
  const corner = (turn) => [x - size * Math.cos(angle + turn), y + size * Math.sin(angle + turn)];
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(...corner(0.42));
  context.lineTo(...corner(-0.42));
  context.closePath();
  context.fill();
}

function paintHand(context, hand, radius, colour, thick) {
  const { angle, length, dashed } = hand, reach = length * radius;
  const tip = [reach * Math.cos(angle), -reach * Math.sin(angle)];
  const size = Math.min(thick * 4, reach), back = Math.max(0, reach - size * 0.8);
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = thick * (dashed ? 0.75 : 1);
  context.setLineDash(dashed ? [6, 4] : []);
  line(context, [[0, 0], [back * Math.cos(angle), -back * Math.sin(angle)]]);
  context.setLineDash([]);
  arrowHead(context, tip, angle, size);
}

// Where the name of a hand stands: beside its tip, further away where the arrow of an axis is there.
// The names of two hands that lie on each other stay apart.
function namePlace({ angle, length, dashed }, radius) {
  const reach = length * radius, side = dashed ? -1 : 1;
  const beside = (turn, far) => [
    reach * Math.cos(angle) + far * Math.cos(angle + side * turn),
    -reach * Math.sin(angle) - far * Math.sin(angle + side * turn),
  ];
  const [x, y] = beside(0.75, 13);
  const taken = (x > radius && Math.abs(y) < 11) || (-y > radius && Math.abs(x) < 11);
  return taken ? beside(1.5, 26) : [x, y];
}

function paintName(context, hand, radius, font) {
  context.font = `600 14px ${font}`;
  context.textAlign = "center";
  context.fillText(hand.name, ...namePlace(hand, radius));
}

function paintArc(context, arc, radius, { text }) {
  const points = arcPoints(arc, radius), [from, by] = arc;
  context.strokeStyle = context.fillStyle = text;
  context.lineWidth = 1.5;
  line(context, points);
  const end = from + (Math.abs(by) <= MOST_RINGS * FULL ? by : by % FULL);
  if (points.length > 6) arrowHead(context, points.at(-1), end + Math.PI / 2 * Math.sign(by), 8);
}

function paintCircle(context, radius, { line: colour, faint }, big) {
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.beginPath();
  context.arc(0, 0, radius, 0, FULL);
  context.stroke();
  if (!big) return line(context, [[radius * 0.82, 0], [radius, 0]]);
  line(context, [[-radius, 0], [radius + 12, 0]]);
  line(context, [[0, radius], [0, -radius - 12]]);
  context.fillStyle = faint;
  arrowHead(context, [radius + 14, 0], 0, 7);
  arrowHead(context, [0, -radius - 14], Math.PI / 2, 7);
}

// What the radius stands for, in the first corner that no hand points to.
function paintEdge(context, { edge, hands }, radius) {
  const apart = (a, b) => Math.abs(Math.atan2(Math.sin(a - b), Math.cos(a - b)));
  const free = (corner) => hands.every(({ angle }) => apart(angle, corner) > 0.5);
  const corner = CORNERS.find(free) ?? CORNERS[0];
  const right = Math.cos(corner) > 0, x = radius * 0.72 + 10, y = radius * 0.72 + 8;
  context.textAlign = right ? "left" : "right";
  context.fillText(edge, right ? x : -x, Math.sin(corner) < 0 ? y : -y);
}

function paintWords(context, dial, radius, theme, colour) {
  const [x, y] = dial.axes, below = radius + 30;
  context.font = `12px ${theme.sans}`;
  context.fillStyle = theme.faint;
  context.textAlign = "left";
  context.fillText(x, radius + 20, 0);
  paintEdge(context, dial, radius);
  context.textAlign = "center";
  context.fillText(y, 0, -radius - 25);
  context.fillStyle = theme.text;
  dial.lines.forEach((text, i) => context.fillText(text, 0, below + i * LINE));
  context.font = `600 14px ${theme.sans}`;
  context.fillStyle = colour;
  context.fillText(dial.label, 0, -radius - 46);
}

function paintBig(context, dial, { radius }, theme, colourOf) {
  paintCircle(context, radius, theme, true);
  if (dial.arc && Math.abs(dial.arc[1]) > 1e-4) paintArc(context, dial.arc, radius, theme);
  for (const hand of dial.hands) {
    paintHand(context, hand, radius, colourOf(hand.role), 3);
    paintName(context, hand, radius, theme.mono);
  }
  paintWords(context, dial, radius, theme, colourOf(dial.hands[0].role));
}

// What the hand has swept: a sector, and the whole disc once it has been all the way round.
function paintSwept(context, [from, by], radius, colour) {
  context.globalAlpha = by >= FULL ? 0.3 : 0.16;
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(0, 0);
  context.arc(0, 0, radius, -from, -from - Math.min(by, FULL), true);
  context.fill();
  context.globalAlpha = 1;
}

function paintSmall(context, dial, { radius }, theme, colourOf) {
  const [hand] = dial.hands, colour = colourOf(hand.role);
  paintSwept(context, dial.arc, radius, colour);
  paintCircle(context, radius, theme, false);
  paintHand(context, hand, radius * 0.94, colour, 2);
  context.textAlign = "center";
  context.font = `600 12px ${theme.sans}`;
  context.fillStyle = theme.text;
  context.fillText(dial.label, 0, radius + 13);
  context.font = `12px ${theme.sans}`;
  context.fillStyle = theme.faint;
  dial.lines.forEach((text, i) => context.fillText(text, 0, radius + 13 + (i + 1) * LINE));
}

function paintDials(canvas, meta, width, theme) {
  const place = placeDials(meta, width), big = meta.dials.length <= BIG;
  const context = sharpen(canvas, width, place.row * Math.ceil(meta.dials.length / place.columns));
  const colourOf = (role) => meta.colours[role][theme.dark ? "dark" : "light"];
  context.textBaseline = "middle";
  context.lineCap = "round";
  meta.dials.forEach((dial, i) => {
    context.save();
    context.translate(...centreOf(place, i));
    (big ? paintBig : paintSmall)(context, dial, place, theme, colourOf);
    context.restore();
  });
}
