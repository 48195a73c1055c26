// Filters: the hash, LevelDB's Bloom filters by data blocks, and RocksDB's of a whole
// table. All arithmetic is that of 32 bits.

const hashSeed = 0xbc9f1d34;
const hashFactor = 0xc6a4a793;
const mostProbes = 30; // a larger k is reserved for other encodings
const mostBits = 2 ** 32 - 8;
const lineSize = 64;
const lineBits = 8 * lineSize;

function mix(h, shift) {
  h = Math.imul(h, hashFactor);
  return h ^ h >>> shift;
}

/** hash is LevelDB's. signed says whether bytes behind the last word count as signed. */
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

/** stepOf is how far apart a key's bits are: the hash rotated. */
const stepOf = (h) => (h >>> 17 | h << 15) >>> 0;

const isSet = (bits, at) => (bits[Math.floor(at / 8)] >>> at % 8 & 1) === 1;

/** probe asks k bits of an array of so many, from h on. */
function probe(bits, size, k, h) {
  const probes = [];
  const step = stepOf(h);
  for (; k > 0; k--) {
    probes.push({ bit: h % size, set: isSet(bits, h % size) });
    h = (h + step) >>> 0;
  }
  return probes;
}

/** askBloom asks a bit array with k behind it. One of no bits contains nothing. */
function askBloom(filter, key) {
  const h = hash(key, false);
  const bits = filter.subarray(0, Math.max(0, filter.length - 1));
  const k = bits.length ? filter[bits.length] : 0;
  const answer = { hash: h, step: stepOf(h), bits, k, size: Math.min(8 * bits.length, mostBits), probes: [] };
  answer.reserved = k > mostProbes;
  if (bits.length && !answer.reserved) answer.probes = probe(bits, answer.size, k, h);
  answer.contains = bits.length > 0 && answer.probes.every((p) => p.set);
  return answer;
}

/** A BlockFilter has the filters by data blocks. */
class BlockFilter {
  constructor(contents) {
    this.contents = contents;
    this.baseLg = contents[contents.length - 1];
    this.array = word(contents, contents.length - 5);
    this.count = (contents.length - 5 - this.array) / 4;
    this.keys = this.countKeys();
  }

  /** slot is the number of the filter for the block at an offset, which may be past 2³². */
  slot(offset) {
    return Math.floor(offset / 2 ** this.baseLg);
  }

  filter(slot) {
    const at = this.array + 4 * slot;
    return this.contents.subarray(word(this.contents, at), word(this.contents, at + 4));
  }

  countKeys() {
    const keys = new Float64Array(this.count);
    for (let i = 0; i < blocks.count; i++) {
      const slot = this.slot(blocks.offset[i]);
      if (slot < this.count) keys[slot] += blocks.users[i];
    }
    return keys;
  }

  /** ask checks the key in the filter of the data block at offset. */
  ask(offset, key) {
    const slot = this.slot(offset);
    if (slot >= this.count) return { slot, missing: true, contains: true, probes: [] };
    return { slot, missing: false, ...askBloom(this.filter(slot), key) };
  }

  /** figures are what a filter is worth. */
  figures(slot) {
    const filter = this.filter(slot);
    const array = filter.subarray(0, Math.max(0, filter.length - 1));
    const k = filter[array.length] ?? 0;
    const figures = figuresOf(slot, array, k, this.keys[slot]);
    if (k > mostProbes) figures.rate = 1; // the filter is treated as containing every key
    return figures;
  }
}

/** A WholeFilter is the filter of the whole table. It consists of lines of 64 bytes. */
class WholeFilter {
  constructor(contents) {
    const end = contents.length - 5;
    this.bits = contents.subarray(0, end);
    this.k = contents[end];
    this.count = word(contents, end + 1);
  }

  filter(line) {
    return this.bits.subarray(line * lineSize, (line + 1) * lineSize);
  }

  ask(key) {
    const h = hash(key, true);
    const line = h % this.count;
    const bits = this.filter(line);
    const probes = probe(bits, lineBits, this.k, h);
    return { hash: h, step: stepOf(h), line, bits, k: this.k, size: lineBits, probes, contains: probes.every((p) => p.set) };
  }

  figures(line) {
    return figuresOf(line, this.filter(line), this.k, model.totals.users / this.count);
  }
}

function figuresOf(index, array, k, keys) {
  const size = 8 * array.length;
  const fill = size ? countOnes(array) / size : 0;
  return { index, size, k, keys, fill, perKey: keys ? size / keys : 0, rate: falsePositives(size, k, keys) };
}

/** falsePositives is the classical rate. */
function falsePositives(size, k, keys) {
  return size ? (1 - Math.exp(-k * keys / size)) ** k : 0;
}

const blockFilter = model.filter ? new BlockFilter(decodeBase64(model.filter.bytes)) : null;
const wholeFilter = model.whole ? wholeFilterOf(decodeBase64(model.whole.bytes)) : null;

/** wholeFilterOf returns null if the length is not that of a table filter. */
function wholeFilterOf(contents) {
  const f = new WholeFilter(contents);
  return f.count > 0 && f.bits.length === lineSize * f.count && f.k <= 127 ? f : null;
}

