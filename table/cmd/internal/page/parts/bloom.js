// LevelDB's Bloom filter: the hash, and lookups in one filter. All arithmetic is in 32 bits.

const hashSeed = 0xbc9f1d34;
const hashFactor = 0xc6a4a793;
const mostProbes = 30; // a larger k is reserved for other encodings
const mostBits = 2 ** 32 - 8;

/** word reads 4 bytes, the lowest first. */
function word(bytes, at) {
  return (bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24) >>> 0;
}

const onesOfByte = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

/** countOnes returns the number of set bits. */
function countOnes(bytes) {
  let ones = 0;
  for (let i = 0; i < bytes.length; i++) ones += onesOfByte[bytes[i]]; // six times as fast as for … of
  return ones;
}

function mix(h, shift) {
  h = Math.imul(h, hashFactor);
  return h ^ h >>> shift;
}

/** hash is LevelDB's hash. signed says whether the bytes after the last word are signed. */
function hash(key, signed) {
  let h = hashSeed ^ Math.imul(key.length, hashFactor);
  let at = 0;
  for (; at + 4 <= key.length; at += 4) h = mix(h + word(key, at), 16);
  if (at < key.length) {
    for (let shift = 0; at < key.length; at++, shift += 8) {
      h += (signed ? key[at] << 24 >> 24 : key[at]) << shift;
    }
    h = mix(h, 24);
  }
  return h >>> 0;
}

/** stepOf returns the distance between a key's bits: the rotated hash. */
const stepOf = (h) => (h >>> 17 | h << 15) >>> 0;

const isSet = (bits, at) => (bits[Math.floor(at / 8)] >>> at % 8 & 1) === 1;

/** probe checks k bits of an array of size bits, from h on. */
function probe(bits, size, k, h) {
  const probes = [];
  const step = stepOf(h);
  for (; k > 0; k--) {
    probes.push({ bit: h % size, set: isSet(bits, h % size) });
    h = (h + step) >>> 0;
  }
  return probes;
}

/** bitArray returns a filter without its last byte, k. */
const bitArray = (filter) => filter.subarray(0, Math.max(0, filter.length - 1));

/** askBloom looks a key up in a filter: a bit array followed by k. A filter without bits contains nothing. */
function askBloom(filter, key, signed = false) {
  const h = hash(key, signed);
  const bits = bitArray(filter);
  const k = bits.length ? filter[bits.length] : 0;
  const answer = { hash: h, step: stepOf(h), bits, k, size: Math.min(8 * bits.length, mostBits), probes: [] };
  answer.reserved = k > mostProbes;
  if (bits.length && !answer.reserved) answer.probes = probe(bits, answer.size, k, h);
  answer.contains = bits.length > 0 && answer.probes.every((p) => p.set);
  return answer;
}
