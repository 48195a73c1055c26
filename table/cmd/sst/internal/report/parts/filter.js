// Bloom filters: LevelDB's block filters, and RocksDB's table filter.

const lineSize = 64;
const lineBits = 8 * lineSize;

/** A BlockFilter contains the block filters. */
class BlockFilter {
  constructor(contents) {
    this.contents = contents;
    this.baseLg = contents[contents.length - 1];
    this.array = word(contents, contents.length - 5);
    this.count = (contents.length - 5 - this.array) / 4;
    this.damaged = new Set(); // filters of damaged blocks, whose keys are unknown
    this.keys = this.countKeys();
  }

  /** slot returns the number of the filter for the block at an offset, which can exceed 2³². */
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

  /**
   * askHashes checks the key with both hashes that the filter's name can mean (see
   * filter.EitherHash), and returns the decisive result.
   */
  askHashes(filter, key) {
    const answer = askBloom(filter, key);
    if (answer.contains || !model.filter.either_hash) return answer;
    const older = askBloom(filter, key, true);
    return older.contains ? older : answer;
  }

  /** figures returns the statistics of a filter. */
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

/** A LineFilter is a table filter that is a Bloom filter. It consists of lines of 64 bytes. */
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

  /** fills returns the shares of set bits of all lines. */
  fills() {
    return Float32Array.from({ length: this.count }, (_, line) => fillOf(this.filter(line)));
  }
}

/** fillOf returns the share of set bits. */
const fillOf = (array) => array.length ? countOnes(array) / (8 * array.length) : 0;

/** wholeFilterOf returns the table filter, or null if it is not in the page. */
async function wholeFilterOf(whole) {
  if (!whole || whole.left_out) return null;
  const contents = await unpack(whole.contents);
  return whole.fingerprint_bits ? new FuseFilter(contents) : new LineFilter(contents, whole.keys);
}
