// What the map can be coloured by. Each choice gives a block a kind, which has a colour: a name of
// the style sheet's or, of figures of data blocks, one of the ramp's.

/** loadOf returns the share of set bits in the filter of a data block, or NaN if it has none. */
function loadOf(block) {
  const slot = blockFilter.slot(blocks.offset[block]);
  const array = slot < blockFilter.count ? bitArray(blockFilter.filter(slot)) : [];
  return array.length ? fillOf(array) : NaN;
}

/** A figure of data blocks has a name, and a form as text; limits are those of its shades, if they are fixed. */
const figures = {
  ratio: { name: "compression ratio", of: (block) => blocks.raw[block] / blocks.length[block], text: (n) => `${decimal(n, 2)} to 1` },
  entries: { name: "number of entries", of: (block) => blocks.entries[block], text: number, whole: true },
  load: { name: "filter load", of: loadOf, text: percent, limits: loadTicks },
};

const mapChoices = ["part", "compression", ...blocks.count ? ["ratio", "entries"] : [], ...blocks.count && blockFilter ? ["load"] : []];

/** A Measure gives data blocks shades by a figure, which is NaN for damaged blocks. */
class Measure {
  constructor(by) {
    this.figure = figures[by];
    this.values = Float64Array.from({ length: blocks.count }, (_, i) => blocks.errors[i] ? NaN : this.figure.of(i));
    const [least, most] = this.range(this.values);
    this.froms = this.figure.limits?.slice(0, -1) ?? this.evenSteps(least, most);
    this.shades = this.froms.map((from, i) => rampColor(this.figure.limits ? loadShare((from + this.figure.limits[i + 1]) / 2) : (i + 0.5) / this.froms.length));
    this.most = this.figure.limits?.at(-1) ?? most;
    const [low, high] = this.range(this.values.subarray(0, -1)); // the last block is as full as it happens to be
    this.varies = high > 1.5 * low;
  }

  range(values) {
    return values.reduce(([least, most], n) => Number.isNaN(n) ? [least, most] : [Math.min(least, n), Math.max(most, n)], [Infinity, -Infinity]);
  }

  /** evenSteps cuts the range of the values into five parts or fewer. Numbers of things stay whole. */
  evenSteps(least, most) {
    const step = this.figure.whole ? Math.ceil((most - least + 1) / 5) : (most - least) / 5;
    return [0, 1, 2, 3, 4].map((i) => least + i * step).filter((from, i) => i === 0 || from <= most && step > 0);
  }

  /** kind is the shade of a data block. */
  kind(block) {
    const value = this.values[block];
    return Number.isNaN(value) ? "rest" : this.shades[Math.max(0, this.froms.findLastIndex((from) => value >= from))];
  }

  /** name is the range of a shade's values. */
  name(shade) {
    const { text, whole } = this.figure, i = this.shades.indexOf(shade);
    const from = this.froms[i], next = this.froms[i + 1], to = next === undefined ? this.most : whole ? next - 1 : next;
    return from === to ? text(from) : `${text(from)} – ${text(to)}`;
  }

  fact(block) {
    return [this.figure.name, Number.isNaN(this.values[block]) ? "none" : this.figure.text(this.values[block])];
  }
}
