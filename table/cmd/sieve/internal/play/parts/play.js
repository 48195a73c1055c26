// What the parts of the page share: the settings, the filter, and what is asked or pointed at.

/** A Play tells the parts of the page of changes. */
class Play {
  constructor() {
    Object.assign(this, { examples: "words", asked: null, chosen: null, hovered: null });
    this.filterParts = [];
    this.markParts = [];
    this.rebuild(firstSettings, []);
  }

  /** onFilter has a function called when the filter or its examples change. */
  onFilter(part) {
    this.filterParts.push(part);
  }

  /** onMarks has a function called when another key is asked or pointed at. */
  onMarks(part) {
    this.markParts.push(part);
  }

  /** resize makes a new filter with the keys of the old one. */
  resize(settings) {
    this.rebuild(settings, this.sieve.keys.map((key) => key.bytes));
    this.filterChanged();
  }

  /** rebuild is resize with these keys, and before the parts of the page are told. */
  rebuild(settings, keys) {
    this.settings = settings.by === "rate" ? withRate(settings) : settings;
    const { n, bits, k } = this.settings;
    this.sieve = new Sieve(n, bits, k);
    for (const key of keys) this.sieve.add(key);
  }

  filterChanged() {
    this.chosen = this.hovered = null;
    if (this.asked) this.asked = this.sieve.ask(this.asked.bytes);
    for (const part of this.filterParts) part();
    this.marksChanged();
  }

  marksChanged() {
    for (const part of this.markParts) part();
  }

  ask(bytes) {
    this.asked = this.sieve.ask(bytes);
    this.chosen = null;
    this.marksChanged();
  }

  /** pointed is the key whose bits are shown, or null if those of the asked one are. */
  pointed() {
    return this.hovered ?? this.chosen;
  }
}

/** delayed returns a function that calls f soon, and once for calls that follow closely. */
function delayed(f, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(f, milliseconds);
  };
}

const quoted = (text) => text === "" ? "the empty key" : `“${shorten(text)}”`;

/** listKeys names the first few keys. */
function listKeys(keys, most = 3) {
  const names = keys.slice(0, most).map((key) => quoted(key.text)).join(", ");
  return keys.length > most ? `${names} and ${count(keys.length - most, "others")}` : names;
}

/** readKey returns the key that was typed, or null. The problem is then shown. */
function readKey(input, problem) {
  const { key, wrong } = typedKey(input, ({ length }) =>
    length > mostKeyBytes ? `The key has ${number(length)} bytes. The limit is ${mostKeyBytes}.` : "");
  problem.textContent = wrong;
  return key;
}
