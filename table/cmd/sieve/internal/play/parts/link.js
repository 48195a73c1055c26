// The fragment of the page's URL keeps its state. A URL can come from anyone: parts that this page would not
// write are ignored, and nothing in it becomes HTML.

const longestLink = 1_300_000; // characters; 3200 keys of 64 escaped bytes take fewer

/** linkOf returns the state of the page as a URL fragment. */
function linkOf({ settings, examples, sieve, asked }) {
  const link = new URLSearchParams({ n: settings.n });
  for (const name of settings.by === "rate" ? ["rate"] : ["bits", "k"]) link.set(name, name === "rate" ? `${settings.rate}%` : settings[name]);
  if (examples !== "words") link.set("examples", examples);
  for (const key of sieve.keys) link.append("key", key.text);
  if (asked) link.set("ask", asked.text);
  return `#${link}`;
}

/** keyOf returns the key with this text, or null. */
function keyOf(text) {
  try {
    const key = unescapeText(text);
    return key.length <= mostKeyBytes ? key : null;
  } catch {
    return null;
  }
}

/** settingsOf returns the settings of a link. wrong is called with the name of each invalid one. A rate is in percent, with or without the sign. */
function settingsOf(link, wrong) {
  const settings = { ...firstSettings };
  for (const name of Object.keys(bounds)) {
    if (!link.has(name)) continue;
    const value = parseSetting(name, name === "rate" ? link.get(name).replace(/%$/, "") : link.get(name));
    if (value === null) {
      wrong(name);
      continue;
    }
    settings[name] = value;
    if (name === "bits") Object.assign(settings, { by: "bits", k: probesFor(value) });
    if (name === "rate") settings.by = "rate";
  }
  return settings;
}

/** stateOf returns the state of a link, with a text about the parts that cannot be used. */
function stateOf(text) {
  const state = { keys: [], examples: "words", asked: null, problem: "" };
  const link = new URLSearchParams(text.length <= longestLink ? text.slice(1) : "");
  const wrong = [];
  let wrongKeys = 0;
  const leaveOut = (name) => wrong.push(`${name}, ${textOf(link.get(name))}`);
  state.settings = settingsOf(link, leaveOut);
  for (const key of link.getAll("key")) {
    const bytes = state.keys.length < mostKeys ? keyOf(key) : null;
    if (bytes) state.keys.push(bytes);
    else wrongKeys++;
  }
  if (wrongKeys) wrong.push(count(wrongKeys, "keys"));
  if (link.has("examples")) {
    if (Object.hasOwn(examples, link.get("examples"))) state.examples = link.get("examples");
    else leaveOut("examples");
  }
  if (link.has("ask")) {
    state.asked = keyOf(link.get("ask"));
    if (!state.asked) leaveOut("ask");
  }
  if (text.length > longestLink) state.problem = `⚠ The link is longer than ${count(longestLink, "characters")} and was ignored.`;
  else if (wrong.length) state.problem = `⚠ Ignored parts of the link: ${wrong.join("; ")}.`;
  return state;
}

/** textOf quotes the start of a part of a link. */
const textOf = (part) => `“${shorten(escapeBytes(encoder.encode(part.slice(0, 100))), 20)}”`;

/** keepLink writes the state to the URL. Browsers limit how often that is possible. */
function keepLink(play) {
  play.onMarks(delayed(() => history.replaceState(null, "", linkOf(play)), 300));
}
