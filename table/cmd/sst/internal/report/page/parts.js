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

/** partsTable is the table for what the map is coloured by. */
function partsTable(map) {
  const rows = groupsOf(map).map((group) => [
    element("span", { className: "key" }, swatch(group.kind), partNames[group.kind] ?? group.kind),
    group.count ? number(group.count) : "",
    number(group.stored),
    group.raw > 0 ? number(group.raw) : "",
    percent(group.stored / model.size),
  ]);
  const caption = `The ${count(model.size, "bytes")} of the file by ${map.by}`;
  return tableOf(caption, [map.by === "part" ? "Part" : "Compression", "Blocks", "Stored", "Unpacked", "Of the file"], rows);
}

/** showMap builds the map, its legend, and the choice of colours. */
function showMap() {
  const map = new FileMap();
  const picker = new Picker(byId("map"), byId("map-info"), map);
  const legend = () => byId("parts").replaceChildren(scroller("Parts of the file", partsTable(map)));
  for (const choice of document.querySelectorAll("input[name=by]")) {
    choice.addEventListener("change", () => {
      map.by = choice.value;
      picker.redraw();
      legend();
    });
  }
  legend();
  return (block) => picker.choose(map.order.indexOf(block));
}
