// Elements. Whatever is of the file gets into the page as text, here.

/** element makes an element of properties and children, of which strings are text. */
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

/** setInvalid says of a box whether what is in it is wrong. */
function setInvalid(box, wrong) {
  box.ariaInvalid = wrong ? "true" : null;
}

/** typedKey returns the key in a box, or what is wrong with it. problemOf may find more that is. */
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

/** factList makes a list of names and what they are. */
function factList(facts, className = "facts") {
  const list = element("dl", { className });
  for (const [name, value] of facts) {
    list.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  }
  return list;
}

/** tableOf makes a table; the first cell of a row is its heading. */
function tableOf(caption, heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...rest]) => element("tr", {},
    element("th", { scope: "row" }, first), ...rest.map((cell) => element("td", {}, cell))));
  return element("table", {},
    element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body));
}

/** scroller lets something wide scroll by itself, with the keyboard too. */
function scroller(label, child) {
  return element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, child);
}

/** color is one of the style sheet's, in the scheme that is on. */
function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** onTheme runs a function when the scheme becomes light or dark. */
function onTheme(redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** onResize runs a function with an element's width, now and when it changes. */
function onResize(watched, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = watched.clientWidth;
    if (width > 0 && width !== last) draw(last = width);
  }).observe(watched);
}

/** sizeCanvas gives a canvas its size in CSS pixels, and returns what to draw with. */
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
