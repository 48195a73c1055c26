// The step of a lookup that checks a binary fuse filter: its three fingerprints.

const fingerprintHex = (n) => "0x" + hex(n, Math.ceil(wholeFilter.width / 4));
const hashHex = (n) => "0x" + hex(n, 16);

function fuseStep(answer) {
  const facts = factList([
    ["hash, XXH3 of 64 bits", hashHex(answer.hash)], ["mixed with the filter's seed", hashHex(answer.mixed)],
    ["fingerprint of the key", fingerprintHex(answer.want)], ["XOR of the three places", fingerprintHex(answer.have)]]);
  return step("Table filter", answerOf(answer), facts, placesFigure(answer),
    element("div", { className: "fingerprints" }, scroller("Fingerprints", fingerprintTable(answer))));
}

/** fingerprintTable shows the fingerprints as bits, with the wrong bits of their XOR marked. */
function fingerprintTable({ probes, have, want }) {
  const { segmentLength } = wholeFilter;
  const rows = probes.map(({ place, fingerprint }) =>
    [number(place), number(Math.floor(place / segmentLength)), bitsOf(fingerprint)]);
  rows.push(["XOR", "", bitsOf(have, want)], ["key", "", bitsOf(want)]);
  return tableOf("Fingerprints as bits", ["At", "Segment", "Fingerprint"], rows);
}

/**
 * bitsOf writes a fingerprint in groups of four bits, with the bits marked that differ from another
 * fingerprint.
 */
function bitsOf(fingerprint, other = fingerprint) {
  const bits = element("code");
  for (let i = wholeFilter.width - 1; i >= 0; i--) {
    const bit = String(fingerprint >> i & 1);
    bits.append((fingerprint ^ other) >> i & 1 ? element("span", { className: "differs" }, bit) : bit, i % 4 === 0 && i > 0 ? " " : "");
  }
  return bits;
}

const pictureWidth = 1000; // in units that are stretched to the available width
const leastWindow = 6;

/** placesFigure draws the filter, and below it the three segments with the key's places. */
function placesFigure({ probes }) {
  const { segments, segmentLength } = wholeFilter;
  const first = Math.floor(probes[0].place / segmentLength);
  const wide = Math.max(pictureWidth * fuseArity / segments, leastWindow);
  const from = Math.min(pictureWidth * first / segments, pictureWidth - wide);
  const picture = svg("svg", { viewBox: `0 0 ${pictureWidth} 56`, preserveAspectRatio: "none", role: "img",
    "aria-label": `Segments ${number(first)} to ${number(first + 2)} of ${number(segments)}, each with a place of the key` });
  picture.append(
    svg("rect", { x: 0, y: 0, width: pictureWidth, height: 14, class: "rest" }),
    svg("rect", { x: from, y: 0, width: wide, height: 14, class: "segment" }),
    svg("path", { d: `M${from} 14H${from + wide}L${pictureWidth} 32H0Z`, class: "zoom" }));
  const each = pictureWidth / fuseArity;
  probes.forEach(({ place }, i) => {
    const x = (i + (place % segmentLength + 0.5) / segmentLength) * each;
    picture.append(
      svg("rect", { x: i * each + (i && 2), y: 32, width: each - (i && 2), height: 24, class: "segment" }),
      svg("line", { x1: x, x2: x, y1: 32, y2: 56 }));
  });
  const caption = `Top: the ${number(segments)} segments of the filter. Bottom: segments ${number(first)}, ${number(first + 1)} and ${number(first + 2)}, with the key's place in each.`;
  return element("figure", { className: "places" }, picture, element("figcaption", {}, caption));
}
