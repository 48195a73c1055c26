// The section about filters: their totals, how full each is, and the worst ones.

const listed = 8;

/** figureFacts are a filter's figures in words. */
function figureFacts(figures) {
  if (!figures.size) return [["keys", number(figures.keys)], ["bits", "none: the filter excludes every key"]];
  return [
    ["keys", mean(figures.keys)], ["bits", number(figures.size)],
    ["bits per key", decimal(figures.perKey, 1)], ["probes, k", number(figures.k)], ["bits set", percent(figures.fill)],
    ["predicted false positives", percent(figures.rate)],
  ];
}

/** sumOf adds the figures of filters up; their rate is what random questions meet. */
function sumOf(all) {
  const sum = { size: 0, keys: 0, set: 0, rate: 0, k: [Infinity, 0], empty: 0 };
  for (const figures of all) {
    if (!figures.size) {
      sum.empty++;
      continue;
    }
    sum.size += figures.size;
    sum.keys += figures.keys;
    sum.set += figures.fill * figures.size;
    sum.rate += figures.rate * figures.keys;
    sum.k = [Math.min(sum.k[0], figures.k), Math.max(sum.k[1], figures.k)];
  }
  return sum;
}

function sumFacts(sum) {
  if (!sum.size) return [["keys", "none"]];
  const [least, most] = sum.k;
  return [
    ["keys", number(Math.round(sum.keys))], ["bits per key", sum.keys ? decimal(sum.size / sum.keys, 2) : "no keys"],
    ["probes, k", least === most ? number(most) : `${least} to ${most}`], ["bits set", percent(sum.set / sum.size)],
    ["predicted false positives", percent(sum.keys ? sum.rate / sum.keys : 0)],
  ];
}

/** blockSlot describes a filter by data blocks. */
function blockSlot(figures) {
  const from = figures.index * 2 ** blockFilter.baseLg;
  const covered = ["data blocks that start at", `${number(from)} to ${number(from + 2 ** blockFilter.baseLg - 1)}`];
  return { title: `filter ${number(figures.index)}`, facts: [covered, ...figureFacts(figures)] };
}

/** wholeLine describes a line of the whole table's filter, whose keys are unknown. */
function wholeLine(figures) {
  return { title: `line ${number(figures.index)}`, facts: [["bits", number(figures.size)], ["bits set", percent(figures.fill)]] };
}

/** heatOf adds a heat map and returns its Picker, or null if there is nothing to show. */
function heatOf(section, label, things, all, describe) {
  if (all.length === 0) return null;
  const canvas = element("canvas", { "aria-label": label });
  const info = element("div", { className: "info" });
  const view = new HeatMap(all, things, (i) => describe(all[i]));
  section.append(element("div", { className: "picture" }, canvas), view.legend(), info);
  return new Picker(canvas, info, view);
}

/** worst lists the first filters in an order. */
function worst(caption, all, order, picker) {
  const rows = all.filter((figures) => figures.size > 0).sort(order).slice(0, listed).map((f) => {
    const jump = element("button", { type: "button", className: "link", onclick: () => picker.choose(f.index) }, number(f.index));
    jump.setAttribute("aria-label", `show filter ${f.index}`);
    return [jump, percent(f.rate), number(f.k), percent(f.fill), number(f.keys), decimal(f.perKey, 1)];
  });
  return scroller(caption, tableOf(caption, ["Filter", "Predicted", "k", "Bits set", "Keys", "Bits/key"], rows));
}

function showBlockFilter(section) {
  const all = Array.from({ length: blockFilter.count }, (_, i) => blockFilter.figures(i));
  const sum = sumOf(all);
  section.append(element("h3", {}, "By data blocks"),
    factList([["policy", model.filter.name],
      ["filters", `${number(all.length - sum.empty)} with keys, ${number(sum.empty)} without`],
      ["each is for", `the blocks that start in ${count(2 ** blockFilter.baseLg, "bytes")}`], ...sumFacts(sum)]));
  const picker = heatOf(section, "Filters by data blocks: how many of their bits are set", "filters", all, blockSlot);
  if (picker && sum.size) {
    section.append(element("div", { className: "pair" },
      worst("Worst: highest predicted false-positive rate, then most probes", all, (a, b) => b.rate - a.rate || b.k - a.k, picker),
      worst("Fullest: most bits set", all, (a, b) => b.fill - a.fill, picker)));
  }
  return (slot) => picker?.choose(slot);
}

function showWholeFilter(section) {
  const all = Array.from({ length: wholeFilter.count }, (_, i) => wholeFilter.figures(i));
  section.append(element("h3", {}, "Of the whole table"),
    factList([["policy", model.whole.name], ["lines of 512 bits", number(all.length)], ...sumFacts(sumOf(all))]));
  const picker = heatOf(section, "Lines of the table's filter: how many of their bits are set", "lines", all, wholeLine);
  return (line) => picker?.choose(line);
}

/** showFilters returns what chooses a filter and a line in the pictures. */
function showFilters() {
  const section = byId("filters");
  if (model.note) section.append(element("p", { className: "warning" }, `⚠ ${model.note}`));
  if (!blockFilter && !wholeFilter) {
    section.append(element("p", {}, "Lookups in this table check no filter. Each reads a data block, unless the key is > all separators."));
  }
  return {
    line: wholeFilter ? showWholeFilter(section) : () => {},
    slot: blockFilter ? showBlockFilter(section) : () => {},
  };
}
