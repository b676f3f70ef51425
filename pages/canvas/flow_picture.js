// The small pictures of data in the boxes of the diagram, on a canvas above it. Knows colour codes
// and boxes; no op.

const SIDE = 4; // of a box, on either side of its picture

// The colours of a picture as an image of one pixel per cell; what is nothing stays open.
function imageOf({ first, shape: [rows, columns], palette }, arrays, dark) {
  const image = new ImageData(columns, rows);
  const lut = arrays[`${palette}_${dark ? "dark" : "light"}`].data;
  arrays.codes.data.subarray(first, first + rows * columns).forEach((code, i) => {
    if (code) image.data.set([...lut.subarray(3 * code, 3 * code + 3), 255], 4 * i);
  });
  const canvas = element("canvas");
  Object.assign(canvas, { width: columns, height: rows });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

function paintPictures({ meta, arrays, drawn, above }, plan, width, theme) {
  const ratio = window.devicePixelRatio || 1, context = above.getContext("2d");
  Object.assign(above, { width: width * ratio, height: plan.height * ratio });
  Object.assign(above.style, { width: `${width}px`, height: `${plan.height}px` });
  context.scale(ratio, ratio);
  context.imageSmoothingEnabled = false;
  meta.nodes.forEach(({ picture }, i) => {
    if (!picture) return;
    const { x, y } = drawn[i], { top, height } = plan.heights.picture;
    const box = [x + SIDE, y + top, drawn[i].width - 2 * SIDE, height];
    hatch(context, box, theme);
    context.drawImage(imageOf(picture, arrays, theme.dark), ...box);
  });
}

// What shows where a picture has nothing.
function hatch(context, [x, y, width, height], { background, line }) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.fillStyle = background;
  context.fill();
  context.strokeStyle = line;
  context.beginPath();
  for (let at = x - height; at < x + width; at += 4) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}
