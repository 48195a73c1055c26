// Bloom filters of a table: LevelDB's by data blocks, and RocksDB's of a whole table.

const lineSize = 64;
const lineBits = 8 * lineSize;

/** A BlockFilter has the filters by data blocks. */
class BlockFilter {
  constructor(contents) {
    this.contents = contents;
    this.baseLg = contents[contents.length - 1];
    this.array = word(contents, contents.length - 5);
    this.count = (contents.length - 5 - this.array) / 4;
    this.damaged = new Set(); // filters of damaged blocks, whose keys are unknown
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
      if (blocks.errors[i]) this.damaged.add(slot);
    }
    return keys;
  }

  /** ask checks the key in the filter of the data block at offset. */
  ask(offset, key) {
    const slot = this.slot(offset);
    if (slot >= this.count) return { slot, missing: true, contains: true, probes: [] };
    return { slot, missing: false, ...this.askHashes(this.filter(slot), key) };
  }

  /** askHashes asks by the hash that decides. Its name can stand for two: see filter.EitherHash. */
  askHashes(filter, key) {
    const answer = askBloom(filter, key);
    if (answer.contains || !model.filter.either_hash) return answer;
    const older = askBloom(filter, key, true);
    return older.contains ? older : answer;
  }

  /** figures are what a filter is worth. */
  figures(slot) {
    const filter = this.filter(slot);
    const array = bitArray(filter);
    const k = filter[array.length] ?? 0;
    const size = 8 * array.length, keys = this.keys[slot];
    const rate = model.filter.rates[slot];
    const expected = this.damaged.has(slot) ? unknownFill : expectedFill(size, k, keys);
    return { index: slot, size, k, keys, fill: fillOf(array), expected, perKey: keys ? size / keys : 0, rate };
  }
}

/** A LineFilter is a Bloom filter of the whole table. It consists of lines of 64 bytes. */
class LineFilter {
  constructor(contents, keys) {
    const end = contents.length - 5;
    this.bits = contents.subarray(0, end);
    this.k = contents[end];
    this.count = word(contents, end + 1);
    this.expected = keys ? expectedLine(lineBits, this.k, keys, this.count) : unknownFill;
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

  /** fills are the shares of set bits of all lines. By words they take a fifth of the time. */
  fills() {
    const words = new Uint32Array(this.bits.buffer, this.bits.byteOffset, this.bits.length / 4);
    const fills = new Float32Array(this.count);
    for (let i = 0; i < words.length; i++) fills[i >>> 4] += onesOfWord(words[i]);
    return fills.map((ones) => ones / lineBits);
  }
}

/** onesOfWord returns how many of 32 bits are set: by twos, by fours, by bytes, and their sum. */
function onesOfWord(word) {
  word -= word >>> 1 & 0x55555555;
  word = (word & 0x33333333) + (word >>> 2 & 0x33333333);
  return Math.imul(word + (word >>> 4) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** bitArray is a filter without its last byte, k. */
const bitArray = (filter) => filter.subarray(0, Math.max(0, filter.length - 1));

/** fillOf is the share of set bits. */
const fillOf = (array) => array.length ? countOnes(array) / (8 * array.length) : 0;

/** wholeFilterOf returns the filter of the whole table, or null if the page has none. */
async function wholeFilterOf(whole) {
  if (!whole || whole.left_out) return null;
  const contents = await unpack(whole.contents);
  return whole.fingerprint_bits ? new FuseFilter(contents) : new LineFilter(contents, whole.keys);
}
