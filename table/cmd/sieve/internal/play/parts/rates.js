// The share of set bits and the false-positive rate, predicted and counted.

/** falsePositives returns the classical rate. */
function falsePositives(size, k, keys) {
  return size ? (1 - Math.exp(-k * keys / size)) ** k : 0;
}

/** rateRows returns the rows of the table. */
function rateRows(sieve, { asked, passed }) {
  const n = sieve.keys.length;
  const expected = predict(n, sieve.size, sieve.k);
  const fill = countOnes(sieve.bits) / sieve.size;
  return [
    ["Bits set", percent(1 - Math.exp(-sieve.k * n / sieve.size)), percent(expected.fill), percent(fill)],
    ["False positives", percent(falsePositives(sieve.size, sieve.k, n)), percent(expected.rate), percent(passed / asked)],
  ];
}

/** showRates updates the figures shortly after the filter changes, since counting takes time. */
function showRates(play) {
  const place = byId("rates");
  const show = delayed(() => {
    const { sieve } = play, list = examples[play.examples];
    const measured = list.measure(sieve);
    const caption = `With ${count(sieve.keys.length, "keys")} in ${number(sieve.size)} bits, k = ${sieve.k}`;
    place.replaceChildren(
      scroller("Predicted and measured", tableOf(caption, ["", "Formula", "LevelDB, mean", "This filter"], rateRows(sieve, measured))),
      element("p", {}, `Of ${number(measured.asked)} ${list.things} that were not added, ${number(measured.passed)} passed this filter.`),
      element("p", { className: "soft" }, "The formula assumes independent bits. LevelDB derives the bits of a key from one hash. A single filter can be far from the mean."));
    place.setAttribute("aria-busy", "false");
  }, 50);
  play.onFilter(() => {
    place.setAttribute("aria-busy", "true");
    show();
  });
}
