// The step of a lookup that checks a binary fuse filter: its three fingerprints.

const fingerprintHex = (n) => "0x" + hex(n, Math.ceil(wholeFilter.width / 4));
const hashHex = (n) => "0x" + hex(n, 16);

function fuseStep(answer) {
  const facts = factList([
    ["hash, XXH3 of 64 bits", hashHex(answer.hash)], ["mixed with the filter's seed", hashHex(answer.mixed)],
    ["fingerprint of the key", fingerprintHex(answer.want)], ["XOR of the three places", fingerprintHex(answer.have)]]);
  return step("Table filter", answerOf(answer), facts,
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
