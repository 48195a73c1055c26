// Binary fuse filters as table filters, in Pebble's encoding.

const fuseTrailer = 14;
const fuseArity = 3; // fingerprints per key, in as many segments

/** A FuseFilter is an array of fingerprints, cut into segments of equal length. */
class FuseFilter {
  constructor(contents) {
    const end = contents.length - fuseTrailer;
    this.contents = contents;
    this.seed = read64(contents, end);
    this.segments = word(contents, end + 8) + fuseArity - 1;
    this.segmentLength = 2 ** contents[end + 12];
    this.width = contents[end + 13];
    this.count = this.segments * this.segmentLength;
  }

  /** fingerprint returns a fingerprint. Fingerprints are bit strings, the lowest bit first. */
  fingerprint(place) {
    const bit = place * this.width, at = Math.floor(bit / 8);
    return (this.contents[at] | this.contents[at + 1] << 8 | this.contents[at + 2] << 16) >> bit % 8 & 2 ** this.width - 1;
  }

  /** places returns the places of the fingerprints for a mixed hash, in three consecutive segments. */
  places(h) {
    const starts = BigInt((this.segments - fuseArity + 1) * this.segmentLength);
    const first = Number(h * starts >> 64n), last = BigInt(this.segmentLength - 1);
    return [
      first,
      (first + this.segmentLength ^ Number(h >> 18n & last)) >>> 0,
      (first + 2 * this.segmentLength ^ Number(h & last)) >>> 0,
    ];
  }

  ask(key) {
    const hash = xxh3(key), mixed = mixSeed(word64(hash + this.seed));
    const want = Number((mixed ^ mixed >> 32n) & BigInt(2 ** this.width - 1));
    const probes = this.places(mixed).map((place) => ({ place, fingerprint: this.fingerprint(place) }));
    const have = probes.reduce((all, { fingerprint }) => all ^ fingerprint, 0);
    return { hash, mixed, want, have, probes, contains: want === have };
  }
}

/** mixSeed mixes a hash to which the filter's seed was added, with MurmurHash3's finalizer. */
function mixSeed(h) {
  h = word64((h ^ h >> 33n) * 0xff51afd7ed558ccdn);
  h = word64((h ^ h >> 33n) * 0xc4ceb9fe1a85ec53n);
  return h ^ h >> 33n;
}
