// Adding keys, and the list of added keys.

/** keyFacts lists the bits that a key set, and the number of keys that set each. */
function keyFacts(key, sieve) {
  const setters = (bit) => sieve.setters[bit].length;
  const bits = key.bits.map((bit) => setters(bit) > 1 ? `${number(bit)} (of ${number(setters(bit))} keys)` : number(bit));
  const facts = [["bits", bits.join(", ")], ["hash", hexWord(key.hash)],
    ["bits shared with other keys", `${key.bits.filter((bit) => setters(bit) > 1).length} of ${key.bits.length}`]];
  if (key.bits.length < sieve.k) facts.push(["probes that repeat a bit", `${number(sieve.k - key.bits.length)}: each probe adds the same step to the hash, which can lead back to a bit`]);
  return facts;
}

/** A KeyList is a list box: one tab stop, in which the arrow keys choose. */
class KeyList {
  constructor(play) {
    Object.assign(this, { play, list: byId("keys"), info: byId("key-info") });
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("focus", () => this.choose(Math.max(0, this.index())));
    this.list.addEventListener("click", ({ target }) => this.choose(this.indexOf(target)));
    this.list.addEventListener("pointerover", ({ target }) => this.hover(this.indexOf(target)));
    this.list.addEventListener("pointerleave", () => this.hover(-1));
    play.onFilter(() => this.refill());
    play.onMarks(() => this.mark());
  }

  index() {
    return this.play.sieve.keys.indexOf(this.play.chosen);
  }

  indexOf(target) {
    return [...this.list.children].indexOf(target);
  }

  refill() {
    const { keys } = this.play.sieve;
    byId("listed").hidden = keys.length === 0;
    this.list.replaceChildren(...keys.map((key, i) =>
      element("li", { role: "option", id: `key-${i}`, "aria-selected": "false" }, key.text === "" ? "(empty key)" : shorten(key.text, 24))));
  }

  hover(i) {
    const hovered = this.play.sieve.keys[i] ?? null;
    if (hovered === this.play.hovered) return;
    this.play.hovered = hovered;
    this.play.marksChanged();
  }

  choose(i) {
    if (i < 0 || i >= this.play.sieve.keys.length) return;
    this.play.chosen = this.play.sieve.keys[i];
    this.play.marksChanged();
    this.list.children[i].scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const last = this.play.sieve.keys.length - 1;
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.choose(Math.min(last, Math.max(0, this.index() + steps[event.key])));
  }

  /** mark marks the chosen key in the list, and describes the key that is pointed at. */
  mark() {
    const chosen = this.index();
    this.list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    this.list.children[chosen]?.setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", chosen < 0 ? "" : `key-${chosen}`);
    const key = this.play.pointed();
    this.info.replaceChildren(...key
      ? [element("h3", {}, `Key ${quoted(key.text)}`), factList(keyFacts(key, this.play.sieve))]
      : [element("p", { className: "soft" }, "Hover over a key, or use the arrow keys, to see its bits.")]);
  }
}

/** sayAdded says what was done, and how many keys there are now. */
function sayAdded({ sieve }, text) {
  const keys = sieve.keys.length;
  const over = keys > sieve.n ? ` ⚠ That exceeds the ${number(sieve.n)} it is sized for: ${overText(sieve)}` : "";
  const full = keys >= mostKeys ? " This page takes no more keys." : "";
  byId("added").textContent = `${text} The filter has ${count(keys, "keys")}.${over}${full}`;
}

/** overText describes the effect of too many keys on the expected rate. */
function overText({ keys, n, size, k }) {
  return `expect ${percent(predict(keys.length, size, k).rate)} false positives, not ${percent(predict(n, size, k).rate)}.`;
}

/** addTyped adds the key that was typed. */
function addTyped(play) {
  const input = byId("new-key");
  const key = readKey(input, byId("added"));
  if (!key) return;
  const text = escapeBytes(key), name = quoted(text), before = play.sieve.has(text);
  const added = play.sieve.add(key);
  if (added) input.value = "";
  play.filterChanged();
  sayAdded(play, added ? `Added ${name}.` : `${name} was ${before ? "added before" : "not added"}.`);
}

/** addExamples adds the next n example keys. */
function addExamples(play, n) {
  const added = examples[play.examples].addTo(play.sieve, n);
  play.filterChanged();
  sayAdded(play, `Added ${count(added, "keys")}.`);
}

/** showKeys connects the form and the buttons that add and remove keys. */
function showKeys(play) {
  const choice = byId("examples");
  new KeyList(play);
  play.onFilter(() => {
    choice.value = play.examples;
    sayAdded(play, "");
  });
  byId("add").addEventListener("submit", (event) => {
    event.preventDefault();
    addTyped(play);
  });
  for (const button of document.querySelectorAll("[data-add]")) {
    button.addEventListener("click", () => addExamples(play, Number(button.dataset.add)));
  }
  byId("clear").addEventListener("click", () => {
    play.rebuild(play.settings, []);
    play.filterChanged();
    sayAdded(play, "All keys were removed.");
  });
  choice.addEventListener("change", () => {
    play.examples = choice.value;
    play.filterChanged();
  });
}
