// The table below the map: its legend, with the same figures as text.

/** addUp adds a block to its group. */
function addUp(groups, kind, stored, raw) {
  const group = groups.get(kind) ?? { kind, count: 0, stored: 0, raw: 0 };
  group.count++;
  group.stored += stored;
  group.raw += raw;
  groups.set(kind, group);
}

/** groupsOf adds up the blocks of the map by kind: first shades in their order, then other kinds in file order. */
function groupsOf(map) {
  const groups = new Map((map.measure?.shades ?? []).map((kind) => [kind, { kind, count: 0, stored: 0, raw: 0 }]));
  let trailers = 0, end = 0, gaps = 0;
  for (const id of map.order) {
    const it = map.item(id);
    addUp(groups, map.kind(it), it.length, it.raw);
    trailers += it.trailer;
    gaps += Math.max(0, it.offset - end);
    end = Math.max(end, it.offset + it.length + it.trailer);
  }
  if (trailers) groups.set("trailer", { kind: "trailer", count: trailers / trailerSize, stored: trailers, raw: 0 });
  if (gaps) groups.set("gap", { kind: "gap", count: 0, stored: gaps, raw: 0 });
  return [...groups.values()].filter(({ stored }) => stored > 0);
}

/** shortSize formats a number of bytes for a narrow column. */
const shortSize = (n) => n < 1000 ? `${number(n)} B` : size(n);

function shareOfFile(bytes) {
  const share = bytes / model.size;
  return share < 0.0001 ? "< 0.01 %" : `${decimal(100 * share, share < 0.1 ? 2 : 1)} %`;
}

/** partsTable returns the table for the current coloring. */
function partsTable({ by, measure }, groups) {
  const rows = groups.map(({ kind, count: n, stored, raw }) => [
    element("span", { className: "key" }, swatch(kind), measure?.shades.includes(kind) ? measure.name(kind) : partNames[kind] ?? kind),
    n ? number(n) : "", shortSize(stored), raw > 0 ? shortSize(raw) : "", shareOfFile(stored),
  ]);
  const what = measure?.figure.name ?? by;
  const caption = `The ${count(model.size, "bytes")} of the file by ${what}`;
  return tableOf(caption, [what[0].toUpperCase() + what.slice(1), "Blocks", "Stored", "Unpacked", "Share"], rows);
}

/**
 * telling returns the information in the color of a byte (Shannon's entropy, in bits). For figures,
 * only the shades of data blocks count, if they vary.
 */
function telling({ measure }, groups) {
  if (measure && !measure.varies) return 0;
  const bytes = groups.filter(({ kind }) => !measure || measure.shades.includes(kind)).map(({ stored }) => stored);
  const sum = bytes.reduce((a, b) => a + b, 0);
  return bytes.reduce((bits, n) => bits - n / sum * Math.log2(n / sum), 0);
}

/** A MapSection is the map with its legend, and with the choices of colors and marked keys. */
class MapSection {
  constructor() {
    this.map = new FileMap();
    this.picker = new Picker(byId("map"), byId("map-info"), this.map);
    this.marking = new Marking(this.map, this.picker);
    this.choices = [...document.querySelectorAll("input[name=by]")];
    for (const choice of this.choices) {
      choice.parentElement.hidden = !mapChoices.includes(choice.value);
      choice.addEventListener("change", () => {
        this.color(choice.value);
        keepView({ map: choice.value === this.usual ? "" : choice.value });
      });
    }
    this.usual = this.mostTelling();
    this.numberBlocks();
  }

  /** mostTelling returns the first choice of colors with the most information. */
  mostTelling() {
    const all = mapChoices.map((by) => {
      this.map.colorBy(by);
      return telling(this.map, groupsOf(this.map));
    });
    return mapChoices[all.indexOf(Math.max(...all))];
  }

  /** numberBlocks lets the user choose a data block by number. */
  numberBlocks() {
    byId("numbering").hidden = blocks.count === 0;
    const box = byId("block"), all = `of ${number(blocks.count)}${blocks.left ? " in the page" : ""}`;
    byId("block-count").textContent = all;
    box.max = blocks.count;
    box.addEventListener("change", () => {
      const right = box.value && box.validity.valid;
      byId("block-count").textContent = right ? all : `${all}. Enter a number from 1 to ${number(blocks.count)}.`;
      setInvalid(box, !right);
      if (right) this.choose(box.value - 1);
    });
  }

  /** color colors the map and shows the legend. */
  color(by) {
    this.map.colorBy(by);
    byId("parts").replaceChildren(scroller("Parts of the file", partsTable(this.map, groupsOf(this.map))));
    this.picker.refresh();
    this.picker.tell();
  }

  /** restore shows a view. */
  restore(view) {
    const by = view.map || this.usual;
    for (const choice of this.choices) choice.checked = choice.value === by;
    this.color(by);
    this.marking.restore(view);
  }

  choose(block) {
    this.picker.choose(this.map.order.indexOf(block));
  }
}
