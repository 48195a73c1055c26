// What data blocks can be coloured by, other than their kind: figures, on a ramp of colours.

/** loadOf returns the share of set bits in the filter of a data block, or NaN if it has none. */
function loadOf(block) {
  const slot = blockFilter.slot(blocks.offset[block]);
  const array = slot < blockFilter.count ? bitArray(blockFilter.filter(slot)) : [];
  return array.length ? fillOf(array) : NaN;
}

/** expectedLoad is what is expected of one of the block filters with known keys, at random. */
function expectedLoad() {
  const sum = new ExpectedSum();
  for (let slot = 0; slot < blockFilter.count; slot++) {
    const { size, expected } = blockFilter.figures(slot);
    if (size && !Number.isNaN(expected.mean)) sum.add(expected);
  }
  return sum.count ? sum.one() : unknownFill;
}

/** Each figure of a data block has a name, and a form as text; shareOf is its place on a fixed scale, if it has one. */
const figures = {
  ratio: { name: "compression ratio", of: (block) => blocks.raw[block] / blocks.length[block], text: (n) => `${decimal(n, 2)} to 1` },
  entries: { name: "number of entries", of: (block) => blocks.entries[block], text: number, whole: true },
  load: { name: "filter load", of: loadOf, text: percent, shareOf: loadShare },
};

const mapChoices = ["part", "compression", ...blocks.count ? ["ratio", "entries"] : [], ...blocks.count && blockFilter ? ["load"] : []];

/** A Measure has one figure of all data blocks. It is NaN for damaged blocks. */
class Measure {
  constructor(by) {
    this.figure = figures[by];
    this.values = new Float64Array(blocks.count).fill(NaN);
    let least = Infinity, most = -Infinity;
    for (let i = 0; i < blocks.count; i++) {
      const value = this.figure.of(i);
      if (blocks.errors[i] || !Number.isFinite(value)) continue;
      this.values[i] = value;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    Object.assign(this, { least, most });
  }

  /** share is where a value is on the scale, from 0 to 1. */
  share(value) {
    if (this.figure.shareOf) return this.figure.shareOf(value);
    return this.most > this.least ? (value - this.least) / (this.most - this.least) : 0.5;
  }

  /**
   * bytesByShade adds up the blocks of each fifth of the scale, or all of them if none has 1.5 times
   * as much as another. It leaves out the last block, which is as full as it happens to be.
   */
  bytesByShade() {
    const shades = [0, 0, 0, 0, 0];
    let least = Infinity, most = 0;
    this.values.subarray(0, -1).forEach((value, block) => {
      if (Number.isNaN(value)) return;
      shades[Math.min(Math.floor(5 * this.share(value)), 4)] += blocks.length[block];
      least = Math.min(least, value);
      most = Math.max(most, value);
    });
    return 1.5 * least > most ? [1] : shades;
  }

  color(block) {
    return rampColor(this.share(this.values[block]));
  }

  fact(block) {
    return [this.figure.name, Number.isNaN(this.values[block]) ? "none" : this.figure.text(this.values[block])];
  }

  /** legend explains the colours, and counts the blocks of each fifth of the range. */
  legend() {
    const { text, name } = this.figure;
    if (this.least > this.most) return [element("p", {}, "No data block has this figure.")];
    const scale = this.figure.shareOf ? [loadBar(expectedLoad())] : [element("span", {}, text(this.least)), rampBar(), element("span", {}, text(this.most))];
    const legend = element("p", { className: "legend" }, ...scale, element("span", { className: "key" }, swatch("rest"), "all else"));
    if (this.least === this.most) {
      return [legend, element("p", {}, `All data blocks have the same ${name}: ${text(this.least)}.`)];
    }
    const caption = `${count(blocks.count, "data blocks")} by ${name}`;
    return [legend, scroller(caption, tableOf(caption, [capital(name), "Blocks", "Stored", "Share"], this.rows()))];
  }

  rows() {
    const parts = this.steps().map(([from, to]) => ({ from, to, count: 0, stored: 0 }));
    this.values.forEach((value, block) => {
      if (Number.isNaN(value)) return;
      const part = parts.findLast(({ from }) => value >= from) ?? parts[0];
      part.count++;
      part.stored += blocks.length[block];
    });
    return parts.filter((part) => part.count).map(({ from, to, count: n, stored }) =>
      [element("span", { className: "key" }, rampSwatch((this.share(from) + this.share(to)) / 2), this.rangeText(from, to)),
        number(n), shortSize(stored), shareOfFile(stored)]);
  }

  /** steps cut the range of the values into five parts or fewer. Numbers of things stay whole. */
  steps() {
    const width = (this.most - this.least) / 5;
    const step = this.figure.whole ? Math.ceil((this.most - this.least + 1) / 5) : width;
    return Array.from({ length: 5 }, (_, i) => [this.least + i * step, Math.min(this.least + (i + 1) * step - (this.figure.whole ? 1 : 0), this.most)])
      .filter(([from]) => from <= this.most);
  }

  rangeText(from, to) {
    return from === to ? this.figure.text(from) : `${this.figure.text(from)} – ${this.figure.text(to)}`;
  }
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
