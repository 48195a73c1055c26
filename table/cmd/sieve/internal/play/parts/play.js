// The state that the parts of the page share: the settings, the filter, and the keys that are looked up or
// pointed at.

/** A Play notifies the parts of the page of changes. */
class Play {
  constructor() {
    Object.assign(this, { examples: "words", asked: null, chosen: null, hovered: null });
    this.filterParts = [];
    this.markParts = [];
    this.rebuild(firstSettings, []);
  }

  /** onFilter registers a function to call when the filter or its examples change. */
  onFilter(part) {
    this.filterParts.push(part);
  }

  /** onMarks registers a function to call when another key is looked up or pointed at. */
  onMarks(part) {
    this.markParts.push(part);
  }

  /** resize creates a new filter with the keys of the old one. */
  resize(settings) {
    this.rebuild(settings, this.sieve.keys.map((key) => key.bytes));
    this.filterChanged();
  }

  /** rebuild is like resize with these keys, but does not notify the parts of the page. */
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

  /** pointed returns the key whose bits are shown, or null if they are the bits of the key that was looked up. */
  pointed() {
    return this.hovered ?? this.chosen;
  }
}

/** delayed returns a function that calls f after a delay, and only once for calls in quick succession. */
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

/** readKey returns the typed key. If it is invalid, readKey shows the problem and returns null. */
function readKey(input, problem) {
  const { key, wrong } = typedKey(input, ({ length }) =>
    length > mostKeyBytes ? `The key has ${number(length)} bytes. The limit is ${mostKeyBytes}.` : "");
  problem.textContent = wrong;
  return key;
}
