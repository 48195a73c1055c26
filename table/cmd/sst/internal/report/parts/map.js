// The map of the file: all its blocks to scale, in rows.

const partNames = {
  data: "data", filter: "filter", "table filter": "table filter", properties: "properties", meta: "other meta",
  metaindex: "metaindex", index: "index", footer: "footer", "left out": "data, not in the page", trailer: "trailers", gap: "in no block", damaged: "damaged",
};

/** Marks tell parts apart without their colours. */
const marks = {
  filter: "slash", "table filter": "backslash", properties: "dots", meta: "dots", metaindex: "columns",
  index: "rows", footer: "cross", rest: "slash", "left out": "dots", damaged: "cross", snappy: "slash", zstd: "backslash", zlib: "columns", deflate: "rows", unknown: "dots",
};

const mapRow = 22;
const narrowRow = 14;
const leastMarked = 12; // pixels, for a mark to be seen as one
const mapGap = 4;
const mostRows = 24;

/** A FileMap is the Picker's view of all blocks, numbered in the order of the file. */
class FileMap {
  constructor() {
    this.by = "part";
    this.measure = null; // what blocks are coloured by, unless by kind
    this.marked = null; // the data blocks of a range of keys
    this.count = blocks.count + model.parts.length;
    this.start = new Float64Array(this.count);
    for (let i = 0; i < this.count; i++) this.start[i] = i < blocks.count ? blocks.offset[i] : model.parts[i - blocks.count].offset;
    this.order = Uint32Array.from(this.start, (_, i) => i).sort((a, b) => this.start[a] - this.start[b]);
  }

  /** colorBy chooses the colours. */
  colorBy(by) {
    this.by = by;
    this.measure = by in figures ? new Measure(by) : null;
  }

  part(id) {
    return id < blocks.count ? null : model.parts[id - blocks.count];
  }

  /** extent is where a block starts, ends, and ends with its trailer. */
  extent(id) {
    const part = this.part(id);
    const end = this.start[id] + (part ? part.length : blocks.length[id]);
    return [this.start[id], end, end + (part ? part.trailer : trailerSize)];
  }

  error(id) {
    return this.part(id) ? this.part(id).error : blocks.errors[id];
  }

  /** kind is what the block is drawn as. */
  kind(id) {
    const part = this.part(id);
    if (this.error(id)) return "damaged";
    if (part?.kind === "left out") return part.kind;
    if (this.by === "part") return part ? part.kind : "data";
    if (this.measure) return "rest";
    if (part?.kind === "footer") return "footer";
    return compressionName(part ? part.compression : blocks.compression[id]);
  }

  layout(width) {
    const rows = Math.min(mostRows, Math.max(1, Math.round(this.count * 8 / width)));
    this.rowHeight = rows < 3 ? 2 * mapRow : width < 600 ? narrowRow : mapRow;
    this.width = width;
    this.perRow = model.size / rows;
    this.perPixel = this.perRow / width;
    return rows * (this.rowHeight + mapGap);
  }

  /** spans cuts bytes of the file at the ends of rows. */
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
    const [start, , end] = this.extent(this.order[i]);
    return this.spans(start, end);
  }

  at(x, y) {
    const row = Math.floor(y / (this.rowHeight + mapGap));
    const byte = row * this.perRow + x * this.perPixel;
    let low = 0, high = this.count;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.start[this.order[middle]] <= byte) low = middle;
      else high = middle;
    }
    return low;
  }

  draw(context) {
    const fills = new Fills(context);
    for (const [x, y, width, height] of this.spans(0, model.size)) fills.fill(fills.plain("gap"), x, y, width, height);
    const damaged = [];
    let drawn = -1;
    for (const id of this.order) {
      if (this.error(id)) damaged.push(id);
      const [start, end, after] = this.extent(id);
      const pixel = Math.floor(start / this.perPixel);
      if (pixel === drawn && after - start < this.perPixel) continue; // the pixel is taken
      drawn = pixel;
      this.drawBlock(fills, id, start, end, after);
    }
    for (const id of damaged) this.drawDamaged(fills, id);
    if (this.marked) this.drawMarked(fills, this.marked);
  }

  /** drawMarked underlines the marked blocks, and makes all else pale. */
  drawMarked({ context }, { first, end }) {
    const [from, to] = first < end ? [blocks.offset[first], this.extent(end - 1)[2]] : [0, 0];
    context.globalAlpha = 0.65;
    context.fillStyle = color("card");
    for (const [x, y, width, height] of [...this.spans(0, from), ...this.spans(to, model.size)]) context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    context.fillStyle = color("accent");
    for (const [x, y, width, height] of this.spans(from, to)) context.fillRect(x, y + height, Math.max(width, 3), mapGap - 1);
  }

  drawBlock(fills, id, start, end, after) {
    const kind = this.kind(id);
    const shade = this.measure && id < blocks.count && !Number.isNaN(this.measure.values[id]) ? this.measure.color(id) : null;
    for (const [x, y, width, height] of this.spans(start, end)) {
      const narrow = width < 1; // it gets a whole pixel: parts of pixels would be pale
      fills.fill(shade ?? (width > leastMarked ? fills.marked(kind) : fills.plain(kind)), narrow ? Math.floor(x) : x, y, narrow ? 1 : width, height);
    }
    const trailer = (after - end) / this.perPixel;
    const gap = (after - start) / this.perPixel > 4 && trailer < 1 ? 1 : 0; // keeps neighbours apart
    if (trailer < 1 && gap === 0) return;
    for (const [x, y, width, height] of this.spans(end, after)) {
      fills.fill(gap ? fills.plain("card") : fills.plain("trailer"), gap ? x - 1 : x, y, Math.max(width, 1), height);
    }
  }

  /** drawDamaged draws a damaged block over the others, wide enough to be seen. */
  drawDamaged(fills, id) {
    const [start, , after] = this.extent(id);
    for (const [x, y, width, height] of this.spans(start, after)) {
      fills.fill(fills.marked("damaged"), x, y, Math.max(width, 4), height);
    }
  }

  describe(i) {
    const id = this.order[i], part = this.part(id), [start, end, after] = this.extent(id);
    const name = part ? partNames[part.kind] + (after > end ? " block" : "") : `data block ${number(id + 1)} of ${number(blocks.count + blocks.left)}`;
    const facts = [["at", number(start)], ["stored", count(end - start, "bytes")]];
    const error = this.error(id);
    const raw = part ? part.raw : blocks.raw[id];
    if (!error && raw && raw !== end - start) facts.push(["decompressed", count(raw, "bytes")]);
    if (part?.kind === "left out") return { title: "data blocks that are not in the page", facts: [...facts, ["blocks", number(blocks.left)]] };
    if (after > end) facts.push(["compression", error ? "unknown" : compressionName(part ? part.compression : blocks.compression[id])]);
    if (part?.name) facts.push(["name", shorten(part.name, 120)]);
    if (!part) facts.push(...factsOfBlock(id));
    if (!part && !error && this.measure) facts.push(this.measure.fact(id));
    if (error) facts.push(["damage", error]);
    return { title: error ? `⚠ ${name}, damaged` : name, facts, more: part || error ? [] : scanOf(id) };
  }

  /** chose shows the number of a data block that was chosen. */
  chose(i) {
    const id = this.order[i];
    byId("block").value = id < blocks.count ? id + 1 : "";
    byId("block").removeAttribute("aria-invalid");
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

const longestBound = 100_000; // characters of a command's word, of which systems take 128 KiB

/** scanOf has the command that prints the entries of a block that the page does not hold. */
function scanOf(id) {
  if (blocks.held[id] > 0 || blocks.entries[id] === 0 || model.order) return [];
  const keyOf = (block) => escapeBytes(userKeyOf(blocks.separators(block)));
  const afterKey = (block) => keyOf(block) + "\\x00";
  const from = id > 0 ? ["--from", model.internal ? keyOf(id - 1) : afterKey(id - 1)] : []; // versions of one key can be in two blocks
  const to = id + 1 < blocks.count + blocks.left ? ["--to", afterKey(id)] : [];
  const text = "The page does not hold its entries.";
  if ([...from, ...to].some((word) => word.length > longestBound)) return [element("p", {}, `${text} Its separators are too long for a command.`)];
  const what = model.internal ? "This command prints all versions of the keys from that of the separator before it to that of its own, of which some may be in the blocks beside it:"
    : "This command prints them, which are > the separator before it and ≤ its own:";
  return [element("p", {}, `${text} ${what}`), commandLine([...model.scan, ...[...from, ...to].map(shellQuote)].join(" "))];
}
