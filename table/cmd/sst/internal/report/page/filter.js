// Filters of a table: LevelDB's Bloom filters by data blocks, and RocksDB's of a whole table.

const lineSize = 64;
const lineBits = 8 * lineSize;

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

const blockFilter = model.filter ? new BlockFilter(decodeBase64(model.filter.bytes)) : null;
const wholeFilter = model.whole ? wholeFilterOf(decodeBase64(model.whole.bytes)) : null;

/** wholeFilterOf returns null if the length is not that of a table filter. */
function wholeFilterOf(contents) {
  const f = new WholeFilter(contents);
  return f.count > 0 && f.bits.length === lineSize * f.count && f.k <= 127 ? f : null;
}
