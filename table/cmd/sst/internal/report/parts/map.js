// The map of the file: all its blocks to scale, in rows.

const partNames = {
  data: "data", filter: "filter", "table filter": "table filter", properties: "properties", exceptions: "filter exceptions",
  digest: "digest", meta: "other meta", metaindex: "metaindex", index: "index", footer: "footer",
  "left out": "data, not in this page", trailer: "trailers", gap: "not in a block", damaged: "damaged", rest: "other",
};

/** Marks distinguish parts without their colors. */
const marks = {
  filter: "slash", "table filter": "backslash", properties: "dots", exceptions: "dots", digest: "dots", meta: "dots",
  metaindex: "columns", index: "rows", footer: "cross", rest: "slash", "left out": "dots", damaged: "cross", snappy: "slash", zstd: "backslash", zlib: "columns", deflate: "rows", unknown: "dots",
};

const mapRow = 22;
const narrowRow = 14;
const leastMarked = 12; // pixels that make a mark visible
const mapGap = 4;
const mostRows = 24;

/** A FileMap is the Picker's view of all blocks, numbered in file order. */
class FileMap {
  constructor() {
    this.by = "part";
    this.measure = null; // the figure that colors blocks; null: the kind does
    this.marked = null; // the data blocks of the marked range of keys
    this.count = blocks.count + model.parts.length;
    this.start = Float64Array.from([...blocks.offset, ...model.parts.map(({ offset }) => offset)]);
    this.order = Uint32Array.from(this.start, (_, i) => i).sort((a, b) => this.start[a] - this.start[b]);
  }

  /** colorBy chooses the colors. */
  colorBy(by) {
    this.by = by;
    this.measure = by in figures ? new Measure(by) : null;
  }

  /** item returns a data block or a part in the same form: kind, place and sizes. */
  item(id) {
    return model.parts[id - blocks.count] ?? { kind: "data", block: id, offset: blocks.offset[id], length: blocks.length[id], trailer: trailerSize,
      raw: blocks.raw[id], compression: blocks.compression[id], error: blocks.errors[id] };
  }

  /** kind returns the name of the item's color. */
  kind({ kind, block, compression, error }) {
    if (error) return "damaged";
    if (kind === "left out" || this.by === "part") return kind;
    if (this.measure) return block === undefined ? "rest" : this.measure.kind(block);
    return kind === "footer" ? kind : compressionName(compression);
  }

  layout(width) {
    const rows = Math.min(mostRows, Math.max(1, Math.round(this.count * 8 / width)));
    this.rowHeight = rows < 3 ? 2 * mapRow : width < 600 ? narrowRow : mapRow;
    this.width = width;
    this.perRow = model.size / rows;
    this.perPixel = this.perRow / width;
    return rows * (this.rowHeight + mapGap);
  }

  /** spans cuts a range of the file at the ends of rows. */
  spans(start, end) {
    const spans = [];
    for (let row = Math.floor(start / this.perRow); row * this.perRow < end; row++) {
      const from = Math.max(start - row * this.perRow, 0) / this.perPixel;
      const to = Math.min(end - row * this.perRow, this.perRow) / this.perPixel;
      if (to > from) spans.push([from, row * (this.rowHeight + mapGap), to - from, this.rowHeight]);
    }
    return spans;
  }

  rects(i) {
    const { offset, length, trailer } = this.item(this.order[i]);
    return this.spans(offset, offset + length + trailer);
  }

  at(x, y) {
    const row = Math.floor(y / (this.rowHeight + mapGap));
    const byte = row * this.perRow + x * this.perPixel;
    return Math.max(0, firstOf(this.count, (i) => this.start[this.order[i]] > byte) - 1);
  }

  draw(context) {
    const fills = new Fills(context);
    for (const [x, y, width, height] of this.spans(0, model.size)) fills.fill(fills.plain("gap"), x, y, width, height);
    let drawn = -1;
    for (const id of this.order) {
      const it = this.item(id), pixel = Math.floor(it.offset / this.perPixel);
      if (pixel === drawn && it.length + it.trailer < this.perPixel) continue; // the pixel is already drawn
      drawn = pixel;
      this.drawBlock(fills, it);
    }
    for (const id of this.order) this.drawDamaged(fills, this.item(id));
    if (this.marked) this.drawMarked(fills, this.marked);
  }

  /** drawMarked underlines the marked blocks, and makes all others pale. */
  drawMarked({ context }, { first, end }) {
    const [from, to] = first < end ? [blocks.offset[first], blocks.offset[end - 1] + blocks.length[end - 1] + trailerSize] : [0, 0];
    context.globalAlpha = 0.65;
    context.fillStyle = color("card");
    for (const [x, y, width, height] of [...this.spans(0, from), ...this.spans(to, model.size)]) context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    context.fillStyle = color("accent");
    for (const [x, y, width, height] of this.spans(from, to)) context.fillRect(x, y + height, Math.max(width, 3), mapGap - 1);
  }

  drawBlock(fills, it) {
    const kind = this.kind(it), end = it.offset + it.length;
    for (const [x, y, width, height] of this.spans(it.offset, end)) {
      const narrow = width < 1; // gets a whole pixel, since parts of pixels would be pale
      fills.fill(width > leastMarked ? fills.marked(kind) : fills.plain(kind), narrow ? Math.floor(x) : x, y, narrow ? 1 : width, height);
    }
    const trailer = it.trailer / this.perPixel;
    const gap = (it.length + it.trailer) / this.perPixel > 4 && trailer < 1 ? 1 : 0; // keeps neighbors apart
    if (trailer < 1 && gap === 0) return;
    for (const [x, y, width, height] of this.spans(end, end + it.trailer)) {
      fills.fill(gap ? fills.plain("card") : fills.plain("trailer"), gap ? x - 1 : x, y, Math.max(width, 1), height);
    }
  }

  /** drawDamaged draws a damaged block over the others, wide enough to be visible. */
  drawDamaged(fills, { error, offset, length, trailer }) {
    for (const [x, y, width, height] of error ? this.spans(offset, offset + length + trailer) : []) {
      fills.fill(fills.marked("damaged"), x, y, Math.max(width, 4), height);
    }
  }

  describe(i) {
    const { kind, name, block, offset, length, trailer, raw, compression, error } = this.item(this.order[i]);
    const facts = [["at", number(offset)], ["stored", count(length, "bytes")]];
    if (!error && raw && raw !== length) facts.push(["decompressed", count(raw, "bytes")]);
    if (kind === "left out") return { title: "data blocks not in this page", facts: [...facts, ["blocks", number(blocks.left)]] };
    if (trailer) facts.push(["compression", error ? "unknown" : compressionName(compression)]);
    if (name) facts.push(["name", shorten(name, 120)]);
    if (block !== undefined) facts.push(...factsOfBlock(block));
    if (block !== undefined && !error && this.measure) facts.push(this.measure.fact(block));
    if (error) facts.push(["damage", error]);
    const title = block === undefined ? partNames[kind] + (trailer ? " block" : "")
      : `data block ${number(block + 1)} of ${number(blocks.count + blocks.left)}`;
    return { title: error ? `⚠ ${title}, damaged` : title, facts, more: block === undefined || error ? [] : scanOf(block) };
  }

  /** chose shows the number of the chosen data block. */
  chose(i) {
    byId("block").value = this.order[i] < blocks.count ? this.order[i] + 1 : "";
    setInvalid(byId("block"), false);
  }
}

function factsOfBlock(id) {
  const facts = [["separator", keyText(blocks.separators(id))]];
  const keys = blocks.errors[id] ? null : edgeKeys(id);
  if (keys) facts.unshift(["first key", quote(keys[0])], ["last key", quote(keys[1])]);
  if (!blocks.errors[id]) facts.unshift(["entries", number(blocks.entries[id])]);
  if (blocks.deletions[id]) facts.push(["deletions", number(blocks.deletions[id])]);
  return facts;
}

const longestBound = 100_000; // characters of a word in a command, which systems limit to 128 KiB

/** scanOf returns the command that prints the entries of a block if they are not in the page. */
function scanOf(id) {
  if (blocks.held[id] > 0 || blocks.entries[id] === 0 || model.order) return [];
  const keyOf = (block) => escapeBytes(userKeyOf(blocks.separators(block)));
  const afterKey = (block) => keyOf(block) + "\\x00";
  const from = id > 0 ? ["--from", model.internal ? keyOf(id - 1) : afterKey(id - 1)] : []; // versions of a key can be in two blocks
  const to = id + 1 < blocks.count + blocks.left ? ["--to", afterKey(id)] : [];
  const text = "Its entries are not in this page.";
  if ([...from, ...to].some((word) => word.length > longestBound)) return [element("p", {}, `${text} Its separators are too long for a command.`)];
  const what = model.internal ? "This command prints all versions of its keys, some of which may be in neighboring blocks:"
    : "This command prints them:";
  return [element("p", {}, `${text} ${what}`), commandLine(["sst scan", model.source, ...[...from, ...to].map(shellQuote)].join(" "))];
}
