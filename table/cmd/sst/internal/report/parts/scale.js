// A ramp of colours, and the scale of filter loads on it.

/** Colours from little to much (those of viridis: the colour-blind see them as others do). */
const ramp = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** rampColor returns the colour of a share between 0 and 1. */
function rampColor(share) {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const below = Math.min(Math.floor(at), ramp.length - 2);
  const mixed = ramp[below].map((c, i) => Math.round(c + (ramp[below + 1][i] - c) * (at - below)));
  return `rgb(${mixed.join(" ")})`;
}

/** rampBar is the ramp as a line of a legend. */
function rampBar() {
  const bar = element("span", { className: "ramp", "aria-hidden": "true" });
  bar.style.background = `linear-gradient(to right, ${ramp.map((c) => `rgb(${c.join(" ")})`).join(", ")})`;
  return bar;
}

/**
 * Loads, the shares of set bits, with their places on the ramp. The scale is the same for all
 * tables. Good filters are in its middle, which is wide: their loads differ by little.
 */
const loadScale = [[0, 0], [0.35, 0.15], [0.55, 0.8], [1, 1]];
const loadTicks = [0, 0.35, 0.4, 0.45, 0.5, 0.55, 1];
const barTicks = [0, 0.35, 0.45, 0.55, 1]; // that a narrow bar has room for
const lightMarks = 0.45; // on darker colours, marks are light

const tickText = (load) => `${Math.round(100 * load)} %`;

/** loadShare returns the place of a load on the ramp, from 0 to 1. */
function loadShare(load) {
  const end = Math.max(1, loadScale.findIndex(([corner]) => corner >= load));
  const [[from, low], [to, high]] = loadScale.slice(end - 1, end + 1);
  return low + (load - from) / (to - from) * (high - low);
}

/** loadBar is the ramp with its scale below, and the expected load above. */
function loadBar({ mean }) {
  const bar = element("span", { className: "load-bar" }, rampBar());
  const mark = (className, load, text) => {
    const made = element("span", { className }, text);
    made.style.setProperty("--at", `${100 * loadShare(load)}%`);
    bar.append(made);
  };
  if (!Number.isNaN(mean)) mark("load-expected", mean, `expected ${percent(mean)}`);
  for (const load of barTicks) mark("load-tick", load, tickText(load));
  return bar;
}
