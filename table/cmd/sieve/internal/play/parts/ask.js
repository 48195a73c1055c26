// Looking up a key, and finding a false positive.

/** answerText returns the verdict, its class, and the reason. */
function answerText({ contains, added, probes, k }, sieve) {
  if (!contains) {
    const { bit } = probes.at(-1);
    return ["✗ Certainly absent", "no", `Probe ${probes.length} of ${k} found bit ${number(bit)} clear. If the key had been added, this bit would be set.`];
  }
  if (added) return ["◆ May be present", "yes", `All ${k} probes found a set bit. The key was added.`];
  const setters = new Set(probes.flatMap(({ bit }) => sieve.setters[bit]));
  const each = setters.size === 1 ? "1 key" : `${number(setters.size)} keys`;
  return ["◆ May be present", "maybe", `All ${k} probes found a set bit, but the key was not added: a false positive. Its bits were set by ${each}.`];
}

/** showAnswer shows the result of a lookup. */
function showAnswer({ asked, sieve }) {
  byId("answer").replaceChildren();
  byId("way").replaceChildren();
  if (!asked) return;
  const [verdict, className, why] = answerText(asked, sieve);
  const setBy = (bit) => sieve.setters[bit].length ? ` by ${listKeys(sieve.setters[bit])}` : "";
  byId("answer").replaceChildren(
    element("p", { className: `verdict ${className}` }, element("strong", {}, verdict), ` ${quoted(asked.text)}`),
    element("p", {}, why));
  byId("way").append(probeList(asked, setBy), ...repeatNote(asked));
}

/** showAsk connects the form and the button that finds a false positive. */
function showAsk(play) {
  const input = byId("key"), problem = byId("ask-problem");
  let next = 0, shown = null; // next is where the search continues
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const key = readKey(input, problem);
    if (key) play.ask(key);
  });
  byId("find").addEventListener("click", () => {
    const list = examples[play.examples];
    const found = list.find(play.sieve, next);
    problem.textContent = found < 0 ? notFound(play, list) : "";
    if (found < 0) return;
    next = found + 1;
    input.value = list.texts[found];
    play.ask(encoder.encode(list.texts[found]));
  });
  play.onFilter(() => {
    problem.textContent = "";
    next = 2 * mostKeys; // not a key that the buttons add soon
  });
  play.onMarks(() => {
    if (play.asked !== shown) showAnswer(play); // unchanged while keys are pointed at
    shown = play.asked;
  });
}

function notFound({ sieve }, list) {
  if (sieve.keys.length === 0) return "No bit is set, so no key passes. Add keys first.";
  return `None of ${number(list.texts.length)} ${list.things} passes. Add more keys, or give the filter fewer bits.`;
}
