// How many bits of a Bloom filter should be set, and how much that varies by chance.

/**
 * spreadOf returns the mean and the standard deviation of the share of set bits among m. one
 * is the probability that a given bit stays clear, two that two given bits do.
 */
function spreadOf(m, one, two) {
  const variance = m * one + m * (m - 1) * two - (m * one) ** 2; // of the number of clear bits
  return { mean: 1 - one, deviation: Math.sqrt(Math.max(variance, 0)) / m };
}

/** unknownFill is what is expected of an unknown number of keys. */
const unknownFill = { mean: NaN, deviation: NaN };

/** expectedFill is that of m bits after n keys with k probes each. */
function expectedFill(m, k, n) {
  return spreadOf(m, Math.exp(k * n * Math.log1p(-1 / m)), Math.exp(k * n * Math.log1p(-2 / m)));
}

/** expectedLine is that of a line of m bits. Each of n keys is in one of so many lines, by chance. */
function expectedLine(m, k, n, lines) {
  const clear = (share) => Math.exp(n / lines * Math.expm1(k * Math.log1p(-share)));
  return spreadOf(m, clear(1 / m), clear(2 / m));
}

/** expectedFact compares a filter with what is expected. */
function expectedFact({ mean, deviation }) {
  return ["expected", Number.isNaN(mean) ? "unknown, as the keys are" : `${percent(mean)} ± ${percent(2 * deviation)}, 2σ`];
}

/** isFar says whether a fill is above (1) or below (-1) the expected one by more than 2σ, or in between (0). */
function isFar(fill, { mean, deviation }) {
  const off = fill - mean;
  return Math.abs(off) > 2 * deviation + 1e-9 ? Math.sign(off) : 0;
}

/** mixOf is what is expected of one of these at random. */
function mixOf(all) {
  const mean = all.reduce((sum, e) => sum + e.mean, 0) / all.length;
  const variance = all.reduce((sum, e) => sum + e.deviation ** 2 + (e.mean - mean) ** 2, 0) / all.length;
  return { mean, deviation: Math.sqrt(variance) };
}

/** meanOf is what is expected of the mean of these. */
function meanOf(all) {
  const variance = all.reduce((sum, e) => sum + e.deviation ** 2, 0) / all.length ** 2;
  return { mean: mixOf(all).mean, deviation: Math.sqrt(variance) };
}
