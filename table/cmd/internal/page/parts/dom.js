// Elements. Contents of the file get into the page only here, as text.

/** element returns a new element with properties and children. Strings become text. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

const byId = (id) => document.getElementById(id);

/** setInvalid marks a box whose input is wrong. */
function setInvalid(box, wrong) {
  box.ariaInvalid = wrong ? "true" : null;
}

/** typedKey returns the key in a box, or what is wrong with it. problemOf may find further problems. */
function typedKey(box, problemOf = () => "") {
  let key = null, wrong = "";
  try {
    key = unescapeText(box.value);
    wrong = problemOf(key);
  } catch (error) {
    wrong = error.message;
  }
  setInvalid(box, wrong);
  return { key: wrong ? null : key, wrong };
}

/** factList returns a list of names and values. */
function factList(facts, className = "facts") {
  const list = element("dl", { className });
  for (const [name, value] of facts) {
    list.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  }
  return list;
}

/** tableOf returns a table. The first cell of each row is its heading. */
function tableOf(caption, heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...rest]) => element("tr", {},
    element("th", { scope: "row" }, first), ...rest.map((cell) => element("td", {}, cell))));
  return element("table", {},
    element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body));
}

/** scroller returns a region in which a wide child scrolls, also by keyboard. */
function scroller(label, child) {
  return element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, child);
}

/** color returns a color of the style sheet in the current scheme. */
function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** onTheme calls redraw when the scheme changes. */
function onTheme(redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** onResize calls draw with an element's width, now and when it changes. */
function onResize(watched, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = watched.clientWidth;
    if (width > 0 && width !== last) draw(last = width);
  }).observe(watched);
}

/** sizeCanvas sets a canvas's size in CSS pixels, and returns its context. */
function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
