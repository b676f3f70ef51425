// Elements of a drawing as SVG.

const SVG = "http://www.w3.org/2000/svg";

function draw(tag, attributes, parent, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent?.append(node);
  return node;
}
