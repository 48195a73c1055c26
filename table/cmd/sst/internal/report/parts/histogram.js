// Histograms, redrawn for each width so that the size of text stays the same.

const chartHeight = 190;
const chartEdge = { top: 12, right: 26, bottom: 44, left: 58 };

/** svg makes an element with attributes and text. */
function svg(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** niceStep returns 1, 2 or 5 times a power of ten, such that there are at most that many steps. */
function niceStep(most, steps) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most / steps, 1)));
  return [1, 2, 5, 10].map((digit) => digit * unit).find((step) => most / step <= steps);
}

const binText = (bin) => bin.from === bin.to ? number(bin.from) : `${number(bin.from)}–${number(bin.to)}`;

/** short formats a number for an axis. */
function short(n) {
  if (n < 10000) return number(n);
  return n < 1e6 ? `${+(n / 1e3).toFixed(1)}k` : `${+(n / 1e6).toFixed(1)}M`;
}

/** varyingOf returns the series that a histogram draws: those whose sizes vary. */
const varyingOf = ({ series }) => series.filter(({ min, max }) => min < max);

const seriesClass = ["filled", "outlined"];

/** A Chart contains the scales of one histogram at one width. */
class Chart {
  constructor(histogram, width) {
    this.bins = histogram.bins;
    this.histogram = histogram;
    this.width = width;
    this.inner = width - chartEdge.left - chartEdge.right;
    this.base = chartHeight - chartEdge.bottom;
    this.bar = Math.min(this.inner / this.bins.length, 64);
    this.left = chartEdge.left + (this.inner - this.bar * this.bins.length) / 2;
    const most = Math.max(...this.bins.flatMap((bin) => bin.counts));
    this.step = niceStep(most, 4);
    this.top = Math.ceil(most / this.step) * this.step;
    this.svg = svg("svg", { width, height: chartHeight, role: "img", "aria-label": `${histogram.title}: ${histogram.series.map(rangeOf(histogram)).join("; ")}` });
  }

  y(n) {
    return this.base - n / this.top * (this.base - chartEdge.top);
  }

  draw() {
    this.drawGrid();
    this.bins.forEach((bin, i) => this.drawBar(bin, i));
    this.drawTicks();
    const { left } = chartEdge;
    this.svg.append(
      svg("line", { x1: left, x2: this.width - chartEdge.right, y1: this.base, y2: this.base, class: "axis" }),
      svg("text", { x: left + this.inner / 2, y: chartHeight - 4, "text-anchor": "middle", class: "unit" }, this.histogram.unit),
      svg("text", { x: 12, y: (this.base + chartEdge.top) / 2, "text-anchor": "middle", class: "unit",
        transform: `rotate(-90 12 ${(this.base + chartEdge.top) / 2})` }, this.histogram.of));
    return this.svg;
  }

  drawGrid() {
    for (let n = 0; n <= this.top; n += this.step) {
      this.svg.append(
        svg("line", { x1: chartEdge.left, x2: this.width - chartEdge.right, y1: this.y(n), y2: this.y(n), class: "grid" }),
        svg("text", { x: chartEdge.left - 6, y: this.y(n) + 4, "text-anchor": "end" }, short(n)));
    }
  }

  /** drawBar draws a bin as one bar for each series, side by side. Small values remain visible. */
  drawBar(bin, i) {
    const wide = Math.max(this.bar - 2, bin.counts.length) / bin.counts.length;
    bin.counts.forEach((n, k) => {
      if (n === 0) return;
      const height = Math.max(this.base - this.y(n), 1.5), edge = seriesClass[k] === "outlined" ? 0.75 : 0; // half of the line
      const bar = svg("rect", { x: this.left + i * this.bar + 1 + k * wide + edge, y: this.base - height + edge,
        width: Math.max(wide - 2 * edge, 0.5), height: Math.max(height - edge, 0.5), class: seriesClass[k] });
      const name = varyingOf(this.histogram)[k].name;
      bar.append(svg("title", {}, `${binText(bin)} ${this.histogram.unit}${name ? `, ${name}` : ""}: ${number(n)} ${this.histogram.of}`));
      this.svg.append(bar);
    });
  }

  /**
   * drawTicks labels as many bins as there is room for: at their start or, if they contain a single
   * size, in the middle.
   */
  drawTicks() {
    const single = this.bins[0].from === this.bins[0].to && this.bins.at(-1).from === this.bins.at(-1).to;
    const every = Math.ceil(48 / this.bar);
    for (let i = 0; i <= this.bins.length - (single ? 1 : 0); i += every) {
      const x = this.left + (i + (single ? 0.5 : 0)) * this.bar;
      const from = this.bins[i]?.from ?? this.bins[i - 1].to + 1;
      this.svg.append(
        svg("line", { x1: x, x2: x, y1: this.base, y2: this.base + 4, class: "axis" }),
        svg("text", { x, y: this.base + 17, "text-anchor": "middle" }, short(from)));
    }
  }
}

/** rangeOf returns a function that describes a series. */
const rangeOf = ({ unit }) => ({ name, min, median, max, mean }) => {
  const range = min === max ? `all have ${count(min, unit)}` : `${number(min)} to ${number(max)} ${unit}, median ${number(median)}, mean ${decimal(mean, 1)}`;
  return name ? `${name}: ${range}` : range;
};

/** seriesKey returns a bar of a series for the legend. */
function seriesKey(k) {
  const key = svg("svg", { width: 14, height: 14, class: "series-key", "aria-hidden": "true" });
  key.append(svg("rect", { x: 1, y: 1, width: 12, height: 12, class: seriesClass[k] }));
  return key;
}

/** seriesLines describes all series, with the bars of those that are drawn. */
function seriesLines(histogram) {
  const varying = varyingOf(histogram);
  return histogram.series.map((series) => {
    const k = varying.indexOf(series), drawn = k >= 0 && histogram.series.length > 1;
    return element("p", { className: "soft" }, ...drawn ? [seriesKey(k), " "] : [], rangeOf(histogram)(series));
  });
}

/**
 * histogramCard returns a chart with its statistics, and the bins as text for screen readers. If no
 * series varies, there is only text.
 */
function histogramCard(histogram) {
  const heading = [element("h3", {}, histogram.title), ...seriesLines(histogram)];
  const varying = varyingOf(histogram);
  if (varying.length === 0) return element("div", { className: "histogram" }, ...heading);
  const place = element("div", { className: "chart" });
  onResize(place, (width) => place.replaceChildren(new Chart(histogram, width).draw()));
  const rows = histogram.bins.filter((bin) => bin.counts.some((n) => n > 0)).map((bin) => [binText(bin), ...bin.counts.map(number)]);
  const heads = varying.map(({ name }) => name ? `${histogram.of}, ${name}` : histogram.of);
  return element("div", { className: "histogram" },
    ...heading, place,
    element("details", {}, element("summary", { "aria-label": `As a table: ${histogram.title}` }, "As a table"), tableOf(histogram.title, [histogram.unit, ...heads], rows)));
}

function showHistograms() {
  const section = byId("sizes");
  section.append(...model.histograms.map(histogramCard));
  if (model.histograms.length === 0) section.append(element("p", {}, `There are no ${blocks.count ? "undamaged " : ""}data blocks.`));
}
