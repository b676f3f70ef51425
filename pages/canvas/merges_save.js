// The trees of the player as one picture to keep: an SVG that needs no style sheet.
// Knows a box of drawn SVGs; knows no merge.

const KEPT = `fill stroke stroke-width opacity font text-anchor dominant-baseline`.split(" ");

// A copy that carries its looks along: a file has no style sheet of ours.
function frozen(svg) {
  const copy = svg.cloneNode(true), nodes = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, n) => {
    const style = getComputedStyle(nodes[n]);
    const looks = KEPT.map((name) => `${name}:${style.getPropertyValue(name)}`);
    node.setAttribute("style", looks.join(";"));
  });
  return copy;
}

function saveTrees(box, background, name) {
  const corner = box.getBoundingClientRect();
  const size = { width: box.scrollWidth, height: box.scrollHeight };
  const whole = draw("svg", { xmlns: SVG, ...size });
  draw("rect", { ...size, fill: background }, whole);
  for (const svg of box.children) {
    const at = svg.getBoundingClientRect(), copy = frozen(svg);
    copy.setAttribute("x", at.left - corner.left + box.scrollLeft);
    copy.setAttribute("y", at.top - corner.top + box.scrollTop);
    whole.append(copy);
  }
  const source = new XMLSerializer().serializeToString(whole);
  saveBlob(new Blob([source], { type: "image/svg+xml" }), `${fileName(name)}.svg`);
}
