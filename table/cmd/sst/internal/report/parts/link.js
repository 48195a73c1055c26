// The view of the page, recorded in its address after #: the key, the colors of the map and the
// marked keys. An address can come from anyone: invalid parts are ignored, and nothing in it
// becomes HTML.

const longestLink = 100_000; // characters
const viewNames = ["key", "map", "prefix", "from", "to"];

/** view is the recorded view, as text by name. A key is missing until one is looked up. */
let view = {};

/** readView sets the view from an address, and describes the problems of the address. */
function readView(hash) {
  view = {};
  if (hash.length > longestLink) return `The link is longer than ${count(longestLink, "characters")} and was ignored.`;
  const link = new URLSearchParams(hash.slice(1));
  for (const name of viewNames) {
    if (link.has(name)) view[name] = oneLine(link.get(name));
  }
  return leaveOut();
}

/**
 * oneLine escapes line breaks, which boxes would drop. A backslash before a line break is not a
 * valid escape, and becomes another invalid one.
 */
function oneLine(text) {
  const escaped = { "\n": "\\n", "\r": "\\r", "\\\n": "\\ ", "\\\r": "\\ " };
  return text.replace(/\\[^]|[\n\r]/g, (found) => escaped[found] ?? found);
}

/** leaveOut removes the parts of the view that the page cannot show, and describes them. */
function leaveOut() {
  const wrong = [];
  if (view.map !== undefined && !mapChoices.includes(view.map)) {
    delete view.map;
    wrong.push("The link names colors that this map lacks.");
  }
  if (view.prefix && (view.from || view.to)) {
    delete view.from;
    delete view.to;
    wrong.push("The link has both a prefix and a range. Only the prefix is used.");
  }
  return wrong.join(" ");
}

/** linkOf returns the end of an address with the view. Characters that are legal there stay readable. */
function linkOf(view) {
  const link = new URLSearchParams();
  for (const name of viewNames) {
    if (view[name] || name === "key" && view.key !== undefined) link.set(name, view[name]);
  }
  return "#" + link.toString().replace(/%(?:2F|3A|3F|40|2C|3B|24|21|28|29|7E)/g, decodeURIComponent);
}

let keeping = 0;

/** keepView writes the view to the address, with a delay, since browsers limit how often that is possible. */
function keepView(changes) {
  Object.assign(view, changes);
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    const fits = linkOf(view).length <= longestLink;
    history.replaceState(null, "", linkOf(fits ? view : { map: view.map }));
    byId("link-problem").textContent = fits ? "" : `The keys are too long for a link of ${count(longestLink, "characters")}, and are not in the address of this page.`;
  }, 200);
}

/** onLink runs a function when someone changes the address. */
function onLink(show) {
  window.addEventListener("hashchange", ({ newURL }) => {
    clearTimeout(keeping); // the typed address replaces the previous view
    show(new URL(newURL).hash);
  });
}
