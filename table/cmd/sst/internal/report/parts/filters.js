// The section about filters: their totals, their fills, and the worst ones.

const listed = 8;

/** figureFacts describes the statistics of a filter. */
function figureFacts(figures) {
  if (!figures.size) return [["keys", number(figures.keys)], ["bits", "none: the filter rules out every key"]];
  return [
    ["keys", mean(figures.keys)], ["bits", number(figures.size)],
    ["bits per key", decimal(figures.perKey, 1)], ["probes, k", number(figures.k)], ["bits set", percent(figures.fill)], expectedFact(figures.expected),
    ["predicted false positives", percent(figures.rate)],
  ];
}

/** sumFacts describes the statistics of all block filters, or of the table filter. */
function sumFacts(sum) {
  if (!sum.keys) return [["keys", "none"]];
  return [
    ...keysFacts(sum),
    ["probes, k", sum.k_min === sum.k_max ? number(sum.k_max) : `${sum.k_min} to ${sum.k_max}`], ["bits set", percent(sum.fill)],
    ["predicted false positives", percent(sum.predicted_rate)],
  ];
}

const keysFacts = (sum) => [["keys", number(sum.keys)], ["bits per key", decimal(sum.bits_per_key, 2)]];

/** blockSlot describes a block filter. */
function blockSlot(figures) {
  const from = figures.index * 2 ** blockFilter.baseLg;
  const covered = ["data blocks starting at", `${number(from)} to ${number(from + 2 ** blockFilter.baseLg - 1)}`];
  return { title: `filter ${number(figures.index)}`, facts: [covered, ...figureFacts(figures)] };
}

/** wholeLine describes a line of the table filter. The number of its keys is unknown. */
function wholeLine(line, fill) {
  return { title: `line ${number(line)}`, facts: [["bits", number(lineBits)], ["bits set", percent(fill)], expectedFact(wholeFilter.expected)] };
}

/** heatOf adds a heat map and the chart of its fills, and returns its Picker, or null if there is nothing to show. */
function heatOf(section, { label, things, formula, ...filters }) {
  if (filters.fill.length === 0) return null;
  const canvas = element("canvas", { "aria-label": label });
  const info = element("div", { className: "info" });
  const view = new HeatMap(things, filters);
  const [chart, words] = fillFigure(view, things, formula);
  section.append(element("div", { className: "picture" }, canvas), view.legend(), chart, info, words);
  return new Picker(canvas, info, view);
}

/**
 * worst lists the first filters in an order. If at least as many tie as it would list, it reports
 * the tie instead. Filters with the same place tie.
 */
function worst(title, all, { order, place, text }, picker) {
  const full = all.filter((figures) => figures.size > 0 && figures.keys > 0).sort(order);
  const after = full.findIndex((figures) => place(figures) !== place(full[0]));
  const ties = after < 0 ? full.length : after;
  if (ties >= Math.min(listed, full.length)) return tieOf(title, ties, full.length, text(full[0]));
  const rows = full.slice(0, listed).map((f) => {
    const jump = element("button", { type: "button", className: "link", onclick: () => picker.choose(f.index) }, number(f.index));
    jump.setAttribute("aria-label", `show filter ${number(f.index)}`);
    return [jump, percent(f.rate), number(f.k), percent(f.fill), number(f.keys), decimal(f.perKey, 1)];
  });
  return scroller(title, tableOf(title, ["Filter", "Predicted", "k", "Bits set", "Keys", "Bits/key"], rows));
}

/** tieOf reports that no filter comes first. */
function tieOf(title, ties, filters, text) {
  const who = filters === 1 ? "The only filter has" : ties === filters ? `All ${number(ties)} filters have` : `${number(ties)} of ${number(filters)} filters tie, with`;
  return element("div", { className: "tie" }, element("h4", {}, title), element("p", {}, `${who} ${text}.`));
}

const byRate = {
  order: (a, b) => b.rate - a.rate || b.k - a.k, place: (f) => 100 * Math.round(1e6 * f.rate) + f.k,
  text: (f) => `${percent(f.rate)} predicted false positives, k\u00a0=\u00a0${f.k}`,
};
const byFill = { order: (a, b) => b.fill - a.fill, place: (f) => Math.round(1e4 * f.fill), text: (f) => `${percent(f.fill)} of the bits set` };

function showBlockFilter(section) {
  const sum = model.filter;
  const all = Array.from({ length: blockFilter.count }, (_, i) => blockFilter.figures(i));
  section.append(element("h3", {}, "Block filters"),
    factList([["policy", sum.name],
      ["filters", `${number(sum.filters)} with keys, ${number(sum.empty_filters)} without`],
      ["one per", `${count(2 ** blockFilter.baseLg, "bytes")} of the file`], ...sumFacts(sum)]));
  const picker = heatOf(section, { label: "Block filters: share of bits set", things: "filters",
    fill: Float32Array.from(all, ({ size, fill }) => size ? fill : NaN), expected: (i) => all[i].expected, describe: (i) => blockSlot(all[i]),
    formula: "For m bits, n keys and k probes, it is 1 − (1 − 1/m)^(kn)." });
  if (picker && sum.filters) {
    section.append(element("div", { className: "pair" },
      worst("Worst predicted rate", all, byRate, picker),
      worst("Fullest", all, byFill, picker)));
  }
  return picker;
}

function showLineFilter(section) {
  const fill = wholeFilter.fills();
  section.append(factList([["policy", model.whole.name], ["kind", "Bloom filter"], ["lines of 512 bits", number(fill.length)], ...sumFacts(model.whole)]));
  return heatOf(section, { label: "Lines of the table filter: share of bits set", things: "lines",
    fill, expected: () => wholeFilter.expected, describe: (line) => wholeLine(line, fill[line]),
    formula: "It is the mean of 1 − (1 − 1/512)^(kn) for k probes, over the random number n of keys in a line." });
}

function showFuseFilter(section) {
  const { name, predicted_rate: rate } = model.whole, { width, segments, segmentLength } = wholeFilter;
  section.append(
    factList([["policy", name], ["kind", "binary fuse filter"], ["fingerprints", `${number(wholeFilter.count)} of ${width} bits`],
      ["segments", `${number(segments)} of ${number(segmentLength)} fingerprints`], ...keysFacts(model.whole),
      ["predicted false positives", element("span", {}, `${percent(rate)} = 2`, element("sup", {}, `−${width}`))]]),
    element("p", { className: "soft" }, "The hash of a key gives its fingerprint, and a place in each of three consecutive segments. For a key in the table, the XOR of the " +
      `fingerprints at these places is its own. For an absent key, that happens by chance, once in ${number(1 / rate)} lookups.`));
}

function showWholeFilter(section) {
  section.append(element("h3", {}, "Table filter"));
  return wholeFilter instanceof FuseFilter ? showFuseFilter(section) : showLineFilter(section);
}

/** showLeftOut shows the statistics of filters that are not in the page. */
function showLeftOut(section, title, sum) {
  const facts = sum.fingerprint_bits ? [...keysFacts(sum), ["fingerprints", `of ${sum.fingerprint_bits} bits`], ["predicted false positives", percent(sum.predicted_rate)]] : sumFacts(sum);
  section.append(element("h3", {}, title), factList([["policy", sum.name], ["size", size(sum.bytes)], ...facts]),
    element("p", {}, "This page does not show the bits of the filter, and checks no keys in it."));
}

/** showFilters returns the Pickers of block filters and of lines, if there are any. */
function showFilters() {
  const section = byId("filters");
  if (model.note) section.append(element("p", { className: "warning" }, `⚠ A filter of this table is ${model.note}.`));
  if (!model.filter && !model.whole) section.append(element("p", {}, "This table has no usable filter. Each lookup reads a data block, unless the key is > all separators."));
  if (model.whole?.left_out) showLeftOut(section, "Table filter", model.whole);
  const line = wholeFilter && showWholeFilter(section);
  if (model.filter?.left_out) showLeftOut(section, "Block filters", model.filter);
  return { line, slot: blockFilter && showBlockFilter(section) };
}
