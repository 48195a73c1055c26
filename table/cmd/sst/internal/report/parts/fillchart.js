// A chart of the number of filters by fill, with the expected fill, above the colors of the heat
// map.

const fillChart = { height: 104, base: 72, top: 8, bins: 200, left: 1 };

/** A FillChart draws numbers of filters by fill, on the scale of the colors. */
class FillChart {
  constructor(fills, expected) {
    this.counts = new Float64Array(fillChart.bins);
    for (const fill of fills) this.counts[Math.min(Math.floor(fill * fillChart.bins), fillChart.bins - 1)]++;
    this.expected = expected;
  }

  draw(width, label) {
    const { height, base, top, bins } = fillChart;
    const inner = width - 2 * fillChart.left;
    this.x = (share) => fillChart.left + loadShare(Math.min(Math.max(share, 0), 1)) * inner;
    this.svg = svg("svg", { width, height, role: "img", "aria-label": label });
    this.drawBand();
    const most = this.counts.reduce((a, b) => Math.max(a, b), 0);
    this.counts.forEach((n, i) => {
      const tall = n && Math.max(n / most * (base - top), 1.5);
      const x = this.x(i / bins), wide = this.x((i + 1) / bins) - x;
      if (n) this.add("rect", { x, y: base - tall, width: Math.max(wide - 1, 1), height: tall, class: "count" });
      this.add("rect", { x, y: base + 2, width: wide + 0.5, height: 10, fill: rampColor(loadShare((i + 0.5) / bins)) });
    });
    this.drawTicks();
    return this.svg;
  }

  add(tag, attributes, text) {
    this.svg.append(svg(tag, attributes, text));
  }

  /** drawBand draws the expected value as a line, and ± 2σ as an area. */
  drawBand() {
    const { mean, deviation } = this.expected;
    if (Number.isNaN(mean)) return;
    const from = this.x(mean - 2 * deviation), to = this.x(mean + 2 * deviation);
    this.add("rect", { x: from, y: 0, width: Math.max(to - from, 1), height: fillChart.base, class: "band" });
    this.add("line", { x1: this.x(mean), x2: this.x(mean), y1: 0, y2: fillChart.base, class: "expected" });
  }

  drawTicks() {
    for (const load of loadTicks) {
      const anchor = load === 0 ? "start" : load === 1 ? "end" : "middle";
      this.add("text", { x: this.x(load), y: fillChart.height - 4, "text-anchor": anchor }, `${Math.round(100 * load)} %`);
    }
  }
}

/**
 * compare returns the expected fill of the filters whose keys are known, their number, and how many
 * are far from it.
 */
function compare({ fill, expected }) {
  const sum = new ExpectedSum();
  let far = 0;
  for (let i = 0; i < fill.length; i++) {
    const e = expected(i);
    if (Number.isNaN(fill[i]) || Number.isNaN(e.mean)) continue;
    sum.add(e);
    if (isFar(fill[i], e)) far++;
  }
  return { expected: sum.count ? sum.one() : unknownFill, known: sum.count, far };
}

/** farText describes the result of compare. */
function farText(things, { expected, known, far }) {
  if (known === 0) return `The expected share is unknown, since the keys of the ${things} are.`;
  return `Expected: ${percent(expected.mean)} of the bits set, ± ${percent(2 * expected.deviation)} (2σ). `
    + `${number(far)} of ${count(known, things)} (${percent(far / known)}) ${far === 1 ? "is" : "are"} farther off. Chance alone explains about 5 %.`;
}

/** fillFigure returns the chart, and the same facts as text. */
function fillFigure(view, things, formula) {
  const fills = view.fill.filter((fill) => !Number.isNaN(fill));
  if (fills.length === 0) return ["", ""];
  const text = farText(things, view.compared);
  const chart = new FillChart(fills, view.compared.expected);
  const place = element("div", { className: "fills" });
  onResize(place, (width) => place.replaceChildren(chart.draw(width, text)));
  const caption = element("figcaption", {}, `Bars: ${things} by share of set bits. Line and band: the expected share, ± 2σ. ${formula} All tables share this scale, which is stretched from 35 to 55 %, where good filters are.`);
  return [place, element("figure", { className: "fill-figure" }, element("p", {}, text), caption)];
}
