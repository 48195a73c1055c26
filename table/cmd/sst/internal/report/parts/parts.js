// The table below the map: its legend, with the same figures as text.

/** addUp adds a block to its group. */
function addUp(groups, kind, stored, raw, from) {
  const group = groups.get(kind) ?? { kind, count: 0, stored: 0, raw: 0, from };
  group.count++;
  group.stored += stored;
  group.raw += raw;
  groups.set(kind, group);
}

/** groupsOf adds the blocks of the map up by what they are drawn as. */
function groupsOf(map) {
  const groups = new Map();
  let trailers = 0, end = 0, gaps = 0;
  for (const id of map.order) {
    const [start, stop, after] = map.extent(id);
    const part = map.part(id);
    addUp(groups, map.kind(id), stop - start, part ? part.raw : blocks.raw[id], start);
    trailers += after - stop;
    gaps += Math.max(0, start - end);
    end = Math.max(end, after);
  }
  if (trailers) groups.set("trailer", { kind: "trailer", count: trailers / trailerSize, stored: trailers, raw: 0 });
  if (gaps) groups.set("gap", { kind: "gap", count: 0, stored: gaps, raw: 0 });
  return [...groups.values()];
}

/** shortSize is a number of bytes for a narrow column. */
const shortSize = (n) => n < 1000 ? `${number(n)} B` : size(n);

function shareOfFile(bytes) {
  const share = bytes / model.size;
  return share < 0.0001 ? "< 0.01 %" : `${decimal(100 * share, share < 0.1 ? 2 : 1)} %`;
}

/** partsTable is the table for what the map is coloured by. */
function partsTable(map) {
  const rows = groupsOf(map).map((group) => [
    element("span", { className: "key" }, swatch(group.kind), partNames[group.kind] ?? group.kind),
    group.count ? number(group.count) : "",
    shortSize(group.stored),
    group.raw > 0 ? shortSize(group.raw) : "",
    shareOfFile(group.stored),
  ]);
  const caption = `The ${count(model.size, "bytes")} of the file by ${map.by}`;
  return tableOf(caption, [map.by === "part" ? "Part" : "Compression", "Blocks", "Stored", "Unpacked", "Share"], rows);
}

/** evenness is how many bits the colour of a byte tells (Shannon's entropy), where each colour has so many bytes. */
function evenness(bytes) {
  const sum = bytes.reduce((a, b) => a + b, 0);
  return bytes.reduce((bits, n) => n ? bits - n / sum * Math.log2(n / sum) : bits, 0);
}

/** A MapSection is the map with its legend, and the choices of colours and of marked keys. */
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

  /** mostTelling is the choice of colours that tells most, the first of equals. */
  mostTelling() {
    const all = mapChoices.map((by) => {
      this.map.colorBy(by);
      return evenness(this.map.measure ? this.map.measure.bytesByShade() : groupsOf(this.map).map(({ stored }) => stored));
    });
    return mapChoices[all.indexOf(Math.max(...all))];
  }

  /** numberBlocks lets one choose a data block by its number. */
  numberBlocks() {
    byId("numbering").hidden = blocks.count === 0;
    const box = byId("block"), all = `of ${number(blocks.count)}${blocks.left ? " in the page" : ""}`;
    byId("block-count").textContent = all;
    box.max = blocks.count;
    box.addEventListener("change", () => {
      const right = box.value && box.validity.valid;
      byId("block-count").textContent = right ? all : `${all}. This is no number from 1 to ${number(blocks.count)}.`;
      if (right) this.choose(box.value - 1);
      else box.setAttribute("aria-invalid", "true");
    });
  }

  /** color colours the map and shows the legend. */
  color(by) {
    this.map.colorBy(by);
    const { measure } = this.map;
    byId("parts").replaceChildren(...measure ? measure.legend() : [scroller("Parts of the file", partsTable(this.map))]);
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
