// How full filters are: a cell for each, or for some where there are very many.

const largestCell = 20;
const smallestCell = 4;
const heatHeight = 240;

/** Colours from few to many bits set (cividis: the colour-blind see it as others do). */
const ramp = [[0, 32, 81], [60, 77, 110], [127, 124, 117], [187, 175, 113], [253, 234, 69]];

/** rampColor returns the colour of a share between 0 and 1. */
function rampColor(share) {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const below = Math.min(Math.floor(at), ramp.length - 2);
  const mixed = ramp[below].map((c, i) => Math.round(c + (ramp[below + 1][i] - c) * (at - below)));
  return `rgb(${mixed.join(" ")})`;
}

/** A HeatMap is a Picker's view of block filters, or of the lines of a table filter. */
class HeatMap {
  constructor(figures, things, describe) {
    this.count = figures.length;
    this.things = things;
    this.describe = describe;
    this.fill = Float32Array.from(figures, ({ size, fill }) => size ? fill : NaN);
    this.note = element("span", { className: "each" });
    this.low = element("span");
    this.high = element("span");
  }

  layout(width) {
    this.cell = largestCell;
    while (this.cell > smallestCell && this.heightFor(width, 1) > heatHeight) this.cell--;
    this.columns = Math.floor(width / this.cell);
    this.each = 1;
    while (this.heightFor(width, this.each) > heatHeight) this.each++;
    this.note.textContent = this.each > 1 ? `A cell is the mean of ${this.each} ${this.things}.` : "";
    this.scale();
    return this.heightFor(width, this.each);
  }

  heightFor(width, each) {
    return Math.ceil(this.count / each / Math.floor(width / this.cell)) * this.cell;
  }

  /** scale fits the colours to the cells: filters that are all about half full would look the same. */
  scale() {
    this.means = Float32Array.from({ length: Math.ceil(this.count / this.each) }, (_, cell) => this.mean(cell));
    const full = this.means.filter((mean) => !Number.isNaN(mean));
    const least = full.reduce((a, b) => Math.min(a, b), 1), most = full.reduce((a, b) => Math.max(a, b), 0);
    this.least = Math.floor(least * 100) / 100;
    this.most = Math.max(Math.ceil(most * 100) / 100, this.least + 0.01);
    this.low.textContent = percent(this.least);
    this.high.textContent = `${percent(this.most)} of the bits set`;
  }

  /** mean is that of a cell's filters that have bits. */
  mean(cell) {
    let sum = 0, n = 0;
    for (let i = cell * this.each; i < Math.min((cell + 1) * this.each, this.count); i++) {
      if (Number.isNaN(this.fill[i])) continue;
      sum += this.fill[i];
      n++;
    }
    return sum / n;
  }

  rects(i) {
    const cell = Math.floor(i / this.each), side = this.cell < 7 ? this.cell : this.cell - 1;
    return [[cell % this.columns * this.cell, Math.floor(cell / this.columns) * this.cell, side, side]];
  }

  at(x, y) {
    const column = Math.floor(x / this.cell);
    const i = (Math.floor(y / this.cell) * this.columns + column) * this.each;
    return column < this.columns && i < this.count ? i : -1;
  }

  draw(context) {
    context.strokeStyle = color("soft");
    context.lineWidth = 1;
    this.means.forEach((mean, cell) => {
      const [[x, y, width, height]] = this.rects(cell * this.each);
      if (Number.isNaN(mean)) {
        context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
        return;
      }
      context.fillStyle = rampColor((mean - this.least) / (this.most - this.least));
      context.fillRect(x, y, width, height);
    });
  }

  /** legend explains the colours. */
  legend() {
    const bar = element("span", { className: "ramp", "aria-hidden": "true" });
    bar.style.background = `linear-gradient(to right, ${ramp.map((c) => `rgb(${c.join(" ")})`).join(", ")})`;
    const parts = this.fill.every(Number.isNaN) ? [] : [this.low, bar, this.high];
    if (this.fill.some(Number.isNaN)) parts.push(element("span", { className: "hollow", "aria-hidden": "true" }), "no keys");
    return element("p", { className: "legend" }, ...parts, this.note);
  }
}
