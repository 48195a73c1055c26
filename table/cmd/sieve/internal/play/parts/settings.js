// The settings: n, and either a rate or bits per key and k.

/** Bounds keep the filter small enough to be drawn: it has at most 64,000 bits. */
const bounds = {
  n: { least: 1, most: 1600, whole: true, name: "The number of keys" },
  rate: { least: 0.0001, most: 99, whole: false, name: "The rate in %" },
  bits: { least: 1, most: 40, whole: true, name: "The number of bits per key" },
  k: { least: 1, most: mostProbes, whole: true, name: "k" },
};

const firstSettings = { by: "rate", n: 20, rate: 1, bits: 10, k: 6 };

/** parseSetting returns the number, or null if it is invalid or out of bounds. */
const parseSetting = (name, text) => numberIn(bounds[name], text);

/** numberIn returns the typed number, or null if it is invalid or out of bounds. */
function numberIn({ least, most, whole }, text) {
  const value = text.trim() === "" ? NaN : Number(text);
  return value >= least && value <= most && (!whole || Number.isInteger(value)) ? value : null;
}

/** boundsText describes the valid numbers. */
const boundsText = ({ least, most, whole, name }) => `${name} must be a ${whole ? "whole " : ""}number from ${least} to ${most}`;

const problemOf = (name, settings) => `${boundsText(bounds[name])}. The filter still uses ${settings[name]}.`;

/** withRate returns settings with the bits and k for its rate. The fewest bits win, by the formula. */
function withRate(settings) {
  let bits = bounds.bits.least;
  while (falsePositives(bits, probesFor(bits), 1) > settings.rate / 100) bits++;
  return { ...settings, bits, k: probesFor(bits) };
}

function settingFacts({ sieve, settings }) {
  const facts = [
    ["bits, m", `${number(sieve.size)} = ${count(sieve.size / 8, "bytes")}`],
    ["bits per key", number(sieve.perKey)], ["bits that each key sets, k", number(sieve.k)],
  ];
  const usual = probesFor(sieve.perKey);
  if (sieve.k !== usual) facts.push(["LevelDB's k", number(usual)]);
  if (sieve.size > sieve.n * sieve.perKey + 7) facts.push(["LevelDB's minimum", "64 bits"]);
  return facts;
}

/** fillForm shows the settings. It does not overwrite a box that is being typed in. */
function fillForm(play) {
  for (const name of Object.keys(bounds)) {
    const input = byId(name), place = input.closest("[data-by]");
    place.hidden = !["always", play.settings.by].includes(place.dataset.by);
    if (parseSetting(name, input.value) !== play.settings[name]) input.value = play.settings[name];
    setInvalid(input, false);
  }
  byId("sizing").elements.by.value = play.settings.by;
  byId("sizing-problem").textContent = "";
  byId("sizing-facts").replaceChildren(factList(settingFacts(play)));
}

/** change applies typed settings. */
function change(play, input) {
  const value = parseSetting(input.id, input.value);
  if (value === null) {
    setInvalid(input, true);
    byId("sizing-problem").textContent = problemOf(input.id, play.settings);
    return;
  }
  const changed = { ...play.settings, [input.id]: value };
  if (input.id === "bits") changed.k = probesFor(value);
  play.resize(changed);
}

/** showSettings connects the form with the filter. */
function showSettings(play) {
  const form = byId("sizing");
  form.addEventListener("input", ({ target }) => {
    if (target.name === "by") play.resize({ ...play.settings, by: target.value });
    else change(play, target);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  play.onFilter(() => fillForm(play));
}
