// The probes of a lookup as a list, and bits as the cells of a picture.

/** probeList lists the probed bits, each once. about returns more text about a bit. */
function probeList(answer, about = () => "") {
  const times = new Map();
  for (const { bit } of answer.probes) times.set(bit, (times.get(bit) ?? 0) + 1);
  const sets = new Map(answer.probes.map(({ bit, set }) => [bit, set]));
  const items = [...sets].map(([bit, set]) =>
    element("li", { className: set ? "yes" : "no" }, `bit ${number(bit)} ${set ? "✓ set" : "✗ not set"}${about(bit)}${again(times.get(bit))}`));
  return element("ol", { className: "probes", "aria-label": "bits probed" }, ...items);
}

const again = (times) => times > 1 ? `; probed ${times} times` : "";

/** repeatNote explains why there are fewer bits than probes, if so. */
function repeatNote({ probes }) {
  const bits = new Set(probes.map(({ bit }) => bit)).size;
  if (bits === probes.length) return [];
  const why = `${count(probes.length, "probes")} hit ${count(bits, "bits")}: each probe adds the same step to the hash, which can lead back to a bit.`;
  return [element("p", { className: "soft" }, why)];
}

/** drawBit draws a bit in its cell: a square if it is set, otherwise a dot. */
function drawBit(context, [x, y], cell, set) {
  const inset = set ? cell / 8 : cell * 3 / 8;
  context.fillRect(x + inset, y + inset, cell - 2 * inset, cell - 2 * inset);
}

/** markProbe marks a probed bit: a full square if it is set, otherwise a cross. */
function markProbe(context, [x, y], cell, set) {
  context.strokeStyle = color(set ? "yes" : "no");
  context.lineWidth = 2;
  if (set) {
    context.fillStyle = color("yes");
    context.strokeRect(x, y, cell, cell);
    context.fillRect(x, y, cell, cell);
    return;
  }
  const more = Math.max(0, 6 - cell / 2); // keeps a cross in a small cell recognizable
  context.beginPath();
  context.moveTo(x - more, y - more);
  context.lineTo(x + cell + more, y + cell + more);
  context.moveTo(x + cell + more, y - more);
  context.lineTo(x - more, y + cell + more);
  context.stroke();
}
