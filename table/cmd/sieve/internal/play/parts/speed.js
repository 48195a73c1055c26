// How fast this browser adds keys and looks them up.

const speedBounds = { least: 1, most: 200_000, whole: true, name: "The number of keys" };
const leastTime = 100; // milliseconds, since browsers' clocks are coarse

/** speedKeys returns n keys, from a number on. */
function speedKeys(from, n) {
  return Array.from({ length: n }, (_, i) => encoder.encode(`user${String(from + i).padStart(7, "0")}`));
}

/** nanoseconds returns the time that a function takes for each of n keys. It calls the function once or more. */
function nanoseconds(n, run) {
  const start = performance.now();
  let rounds = 0, took = 0;
  do {
    run();
    rounds++;
    took = performance.now() - start;
  } while (took < leastTime);
  return took * 1e6 / rounds / n;
}

/** measureSpeed builds a filter of n keys, and looks up these and as many others. */
function measureSpeed(n, perKey, k) {
  const size = sizeFor(n, perKey), bits = new Uint8Array(size / 8);
  const added = speedKeys(1, n), others = speedKeys(n + 1, n);
  const ask = (keys) => keys.reduce((passed, key) => passed + hasBits(bits, size, k, hash(key, false)), 0);
  let passed = 0;
  const times = [
    ["Add a key", nanoseconds(n, () => added.forEach((key) => setBits(bits, size, k, hash(key, false))))],
    ["Look up an added key", nanoseconds(n, () => ask(added))],
    ["Look up another key", nanoseconds(n, () => { passed = ask(others); })],
  ];
  return { size, times, passed };
}

/** threeDigits rounds to three digits, since further ones are random. */
const threeDigits = (x) => Number(x.toPrecision(3)).toLocaleString("en-US");

function showSpeeds(place, n, { bits, k }) {
  const { size, times, passed } = measureSpeed(n, bits, k);
  const rows = times.map(([what, time]) => [what, threeDigits(1e9 / time), `${threeDigits(time)} ns`]);
  const caption = `With ${count(n, "keys")} in ${count(size / 8, "bytes")}, k = ${k}`;
  place.replaceChildren(
    scroller("Speed in this browser", tableOf(caption, ["", "Per second", "Each"], rows)),
    element("p", {}, `Of ${count(n, "other keys")}, ${number(passed)} passed (${percent(passed / n)}).`));
}

/** showSpeed connects the form that measures. */
function showSpeed(play) {
  const input = byId("speed-keys"), problem = byId("speed-problem"), place = byId("speeds");
  byId("speed").addEventListener("submit", (event) => {
    event.preventDefault();
    const n = numberIn(speedBounds, input.value);
    setInvalid(input, n === null);
    problem.textContent = n === null ? `${boundsText(speedBounds)}.` : "";
    if (n === null || place.ariaBusy === "true") return;
    place.ariaBusy = "true";
    place.replaceChildren(element("p", {}, "Measuring …"));
    setTimeout(() => { // after this is shown
      showSpeeds(place, n, play.settings);
      place.ariaBusy = "false";
    }, 50);
  });
}
