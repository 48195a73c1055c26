// A heat map of fills: a cell for each filter or, if there are very many, for several.

const largestCell = 20;
const smallestCell = 4;
const heatHeight = 240;
const leastFar = 7; // pixels of a cell that can have marks

/**
 * A HeatMap is a Picker's view of block filters, or of a table filter's lines. fill contains the
 * share of set bits of each, or NaN if it has no bits. expected and describe take a number.
 */
class HeatMap {
  constructor(things, { fill, expected, describe }) {
    this.count = fill.length;
    this.things = things;
    Object.assign(this, { fill, expected, describe });
    this.compared = compare(this);
    this.note = element("span", { className: "each" });
    this.farKeys = element("span", { className: "far-keys" });
  }

  layout(width) {
    this.cell = largestCell;
    while (this.cell > smallestCell && this.heightFor(width, 1) > heatHeight) this.cell--;
    this.columns = Math.floor(width / this.cell);
    this.each = 1;
    while (this.heightFor(width, this.each) > heatHeight) this.each++;
    this.note.textContent = this.each > 1 ? `Each cell is the mean of ${this.each} ${this.things}.` : "";
    this.farKeys.replaceChildren(...this.cell < leastFar ? [] : [[1, "fuller"], [-1, "emptier"]].map(([far, text]) =>
      element("span", { className: "key" }, farSwatch(far), `${text} than expected (> 2σ)`)));
    return this.heightFor(width, this.each);
  }

  heightFor(width, each) {
    return Math.ceil(this.count / each / Math.floor(width / this.cell)) * this.cell;
  }

  /**
   * cellOf returns the mean fill of a cell's filters that have bits, and whether it is far from the
   * expected mean.
   */
  cellOf(cell) {
    const sum = new ExpectedSum(), end = Math.min((cell + 1) * this.each, this.count);
    let fills = 0;
    for (let i = cell * this.each; i < end; i++) {
      if (Number.isNaN(this.fill[i])) continue;
      fills += this.fill[i];
      sum.add(this.expected(i));
    }
    const mean = fills / sum.count;
    return [mean, sum.count ? isFar(mean, sum.mean()) : 0];
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
    for (let cell = 0; cell * this.each < this.count; cell++) {
      const [[x, y, width, height]] = this.rects(cell * this.each);
      const [mean, far] = this.cellOf(cell);
      if (Number.isNaN(mean)) {
        context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
        continue;
      }
      context.fillStyle = rampColor(loadShare(mean));
      context.fillRect(x, y, width, height);
      if (far && this.cell >= leastFar) drawFar(context, x, y, width, far, loadShare(mean));
    }
  }

  /** legend explains the marks. The chart below explains the colors. */
  legend() {
    const hollow = element("span", { className: "key" }, element("span", { className: "hollow", "aria-hidden": "true" }), "no keys");
    return element("p", { className: "legend" }, this.farKeys, ...this.fill.some(Number.isNaN) ? [hollow] : [], this.note);
  }
}

/** drawFar marks a cell that is fuller or emptier than expected: a triangle that points up or down. */
function drawFar(context, x, y, side, far, share) {
  const inset = side / 4, [tip, foot] = far > 0 ? [y + inset, y + side - inset] : [y + side - inset, y + inset];
  context.beginPath();
  context.moveTo(x + inset, foot);
  context.lineTo(x + side - inset, foot);
  context.lineTo(x + side / 2, tip);
  context.fillStyle = color(share < lightMarks ? "far-light" : "far");
  context.fill();
}

/** farSwatch returns a marked cell for the legend. */
function farSwatch(far) {
  const canvas = element("canvas", { className: "swatch", "aria-hidden": "true" });
  const context = sizeCanvas(canvas, 14, 14);
  context.fillStyle = rampColor(0.5);
  context.fillRect(0, 0, 14, 14);
  drawFar(context, 0, 0, 14, far, 0.5);
  return canvas;
}
