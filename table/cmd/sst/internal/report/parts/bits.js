// The bits of one filter, with the bits marked that a lookup probes.

const tallest = 480; // pixels; more would be a grey surface

/** bitsFigures draws bits and probes, if there are not too many. The text repeats the list beside it. */
function bitsFigures(answer) {
  const cell = answer.size <= 1024 ? 9 : answer.size <= 4096 ? 6 : 4;
  const columns = Math.floor(Math.min(640, document.documentElement.clientWidth - 72) / cell / 8) * 8;
  if (answer.size === 0 || answer.size / columns * cell > tallest) return [];
  const canvas = element("canvas", { role: "img", "aria-label": bitsText(answer) });
  const draw = () => drawBits(canvas, answer, cell, columns);
  draw();
  onTheme(draw);
  const caption = "Squares are set bits, dots clear bits. Probed bits are green if set, and red crosses if clear.";
  return [element("figure", { className: "bits" }, canvas, element("figcaption", {}, caption))];
}

function bitsText(answer) {
  const clear = answer.probes.filter((probe) => !probe.set).length;
  return `${number(answer.size)} bits, ${number(countOnes(answer.bits))} set; ${answer.probes.length} probed, ${clear} of them clear.`;
}

function drawBits(canvas, answer, cell, columns) {
  const rows = Math.ceil(answer.size / columns);
  const context = sizeCanvas(canvas, Math.min(columns, answer.size) * cell + 2, rows * cell + 2);
  const corner = (bit) => [bit % columns * cell + 1, Math.floor(bit / columns) * cell + 1];
  context.fillStyle = color("bit");
  for (let bit = 0; bit < answer.size; bit++) drawBit(context, corner(bit), cell, isSet(answer.bits, bit));
  for (const probe of answer.probes) markProbe(context, corner(probe.bit), cell, probe.set);
}
