// The colorings of the map: kinds of blocks, or figures of data blocks on a ramp of colors. Filter
// loads have a scale on the ramp.

/** Colors from low to high (viridis, which looks the same to the color-blind). */
const ramp = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** rampColor returns the color of a share between 0 and 1. */
function rampColor(share) {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const below = Math.min(Math.floor(at), ramp.length - 2);
  const mixed = ramp[below].map((c, i) => Math.round(c + (ramp[below + 1][i] - c) * (at - below)));
  return `rgb(${mixed.join(" ")})`;
}

/**
 * Loads, the shares of set bits, with their places on the ramp. The scale is the same for all
 * tables. Its middle is stretched, since the loads of good filters are there and differ by little.
 */
const loadScale = [[0, 0], [0.35, 0.15], [0.55, 0.8], [1, 1]];
const loadTicks = [0, 0.35, 0.4, 0.45, 0.5, 0.55, 1];
const lightMarks = 0.45; // on darker colors, marks are light

/** loadShare returns the place of a load on the ramp, from 0 to 1. */
function loadShare(load) {
  const end = Math.max(1, loadScale.findIndex(([corner]) => corner >= load));
  const [[from, low], [to, high]] = loadScale.slice(end - 1, end + 1);
  return low + (load - from) / (to - from) * (high - low);
}

/** loadOf returns the share of set bits in the filter of a data block, or NaN if it has none. */
function loadOf(block) {
  const slot = blockFilter.slot(blocks.offset[block]);
  const array = slot < blockFilter.count ? bitArray(blockFilter.filter(slot)) : [];
  return array.length ? fillOf(array) : NaN;
}

/** A figure of data blocks has a name, and a function that formats it. limits are fixed limits of its shades. */
const figures = {
  ratio: { name: "compression ratio", of: (block) => blocks.raw[block] / blocks.length[block], text: (n) => `${decimal(n, 2)} to 1` },
  entries: { name: "number of entries", of: (block) => blocks.entries[block], text: number, whole: true },
  load: { name: "filter load", of: loadOf, text: percent, limits: loadTicks },
};

/** A Measure assigns shades to data blocks by a figure, which is NaN for damaged blocks. */
class Measure {
  constructor(by) {
    this.figure = figures[by];
    this.values = Float64Array.from({ length: blocks.count }, (_, i) => blocks.errors[i] ? NaN : this.figure.of(i));
    const [least, most] = this.range(this.values);
    const { limits } = this.figure;
    this.froms = limits?.slice(0, -1) ?? this.evenSteps(least, most);
    this.shades = this.froms.map((from, i) => rampColor(limits ? loadShare((from + limits[i + 1]) / 2) : (i + 0.5) / this.froms.length));
    this.most = limits?.at(-1) ?? most;
    const [low, high] = this.range(this.values.subarray(0, -1)); // the last block can be of any size
    this.varies = high > 1.5 * low;
  }

  range(values) {
    return values.reduce(([least, most], n) => Number.isNaN(n) ? [least, most] : [Math.min(least, n), Math.max(most, n)], [Infinity, -Infinity]);
  }

  /** evenSteps divides the range of values into at most five parts. Counts stay whole numbers. */
  evenSteps(least, most) {
    const step = this.figure.whole ? Math.ceil((most - least + 1) / 5) : (most - least) / 5;
    return [0, 1, 2, 3, 4].map((i) => least + i * step).filter((from, i) => i === 0 || from <= most && step > 0);
  }

  /** kind returns the shade of a data block. */
  kind(block) {
    const value = this.values[block];
    return Number.isNaN(value) ? "rest" : this.shades[Math.max(0, this.froms.findLastIndex((from) => value >= from))];
  }

  /** name returns the range of a shade's values. */
  name(shade) {
    const { text, whole } = this.figure, i = this.shades.indexOf(shade);
    const from = this.froms[i], next = this.froms[i + 1], to = next === undefined ? this.most : whole ? next - 1 : next;
    return from === to ? text(from) : `${text(from)} – ${text(to)}`;
  }

  fact(block) {
    return [this.figure.name, Number.isNaN(this.values[block]) ? "none" : this.figure.text(this.values[block])];
  }
}
