// The picture of the bits.

const largestBit = 32;
const smallestBit = 2;
const smallestCounted = 14; // pixels of a cell in which a number is readable
const bitmapHeight = 384;

/** A BitMap is the Picker's view of all bits. Rows have whole bytes. */
class BitMap {
  constructor(play) {
    this.play = play;
  }

  get count() {
    return this.play.sieve.size;
  }

  layout(width) {
    this.cell = largestBit;
    while (this.cell > smallestBit && this.heightFor(width) > bitmapHeight) this.cell--;
    this.columns = this.columnsFor(width);
    return this.heightFor(width);
  }

  columnsFor(width) {
    return Math.max(1, Math.floor((width - 2) / this.cell / 8)) * 8;
  }

  heightFor(width) {
    return Math.ceil(this.count / this.columnsFor(width)) * this.cell + 2;
  }

  corner(bit) {
    return [bit % this.columns * this.cell + 1, Math.floor(bit / this.columns) * this.cell + 1];
  }

  rects(bit) {
    return [[...this.corner(bit), this.cell, this.cell]];
  }

  at(x, y) {
    const column = Math.floor((x - 1) / this.cell);
    const bit = Math.floor((y - 1) / this.cell) * this.columns + column;
    return column >= 0 && column < this.columns && bit >= 0 && bit < this.count ? bit : -1;
  }

  draw(context) {
    const { bits, setters } = this.play.sieve;
    context.fillStyle = color("bit");
    for (let bit = 0; bit < this.count; bit++) drawBit(context, this.corner(bit), this.cell, isSet(bits, bit));
    context.fillStyle = color("shared");
    for (let bit = 0; bit < this.count; bit++) {
      if (setters[bit].length > 1) this.fillCell(context, bit);
    }
    const pointed = this.play.pointed();
    if (pointed) this.markKey(context, pointed);
    else for (const { bit, set } of this.play.asked?.probes ?? []) markProbe(context, this.corner(bit), this.cell, set);
    this.drawCounts(context);
  }

  /** markKey marks the bits of a key. */
  markKey(context, key) {
    context.fillStyle = color("accent");
    for (const bit of key.bits) this.fillCell(context, bit);
  }

  /** fillCell leaves just enough space to tell neighbors apart. */
  fillCell(context, bit) {
    const [x, y] = this.corner(bit);
    const room = Math.min(0.5, this.cell / 8);
    context.fillRect(x + room, y + room, this.cell - 2 * room, this.cell - 2 * room);
  }

  /** drawCounts writes the number of keys that set it on each shared bit. */
  drawCounts(context) {
    if (this.cell < smallestCounted) return;
    context.fillStyle = color("card");
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.play.sieve.setters.forEach((keys, bit) => {
      if (keys.length < 2) return;
      const [x, y] = this.corner(bit);
      context.font = `600 ${Math.min(14, this.cell - 4) * (keys.length > 9 ? 0.75 : 1)}px system-ui, sans-serif`;
      context.fillText(keys.length, x + this.cell / 2, y + this.cell / 2 + 1);
    });
  }

  describe(bit) {
    const keys = this.play.sieve.setters[bit];
    const by = keys.length ? listKeys(keys, 5) : "no key";
    return { title: `Bit ${number(bit)} of ${number(this.count)}: ${keys.length ? "set" : "clear"}`, facts: [["set by", by]] };
  }
}

/** showBits redraws the bits when they or the marks change. */
function showBits(play) {
  const picker = new Picker(byId("bits-picture"), byId("bit-info"), new BitMap(play));
  play.onFilter(() => {
    picker.recount();
    byId("bytes").textContent = Array.from(play.sieve.filter, (byte) => hex(byte, 2)).join("");
  });
  play.onMarks(() => picker.redraw());
}
