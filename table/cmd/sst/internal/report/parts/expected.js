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
  return ["expected", Number.isNaN(mean) ? "unknown, since the keys are" : `${percent(mean)} ± ${percent(2 * deviation)}, 2σ`];
}

/** isFar says whether a fill is above (1) or below (-1) the expected one by more than 2σ, or in between (0). */
function isFar(fill, { mean, deviation }) {
  const off = fill - mean;
  return Math.abs(off) > 2 * deviation + 1e-9 ? Math.sign(off) : 0;
}

/** An ExpectedSum adds up what is expected of filters. There can be hundreds of thousands. */
class ExpectedSum {
  count = 0;
  means = 0;
  squares = 0;
  variances = 0;

  add({ mean, deviation }) {
    this.count++;
    this.means += mean;
    this.squares += mean ** 2;
    this.variances += deviation ** 2;
  }

  /** one is what is expected of one of them at random. */
  one() {
    const mean = this.means / this.count;
    const variance = (this.variances + this.squares) / this.count - mean ** 2;
    return { mean, deviation: Math.sqrt(Math.max(variance, 0)) };
  }

  /** mean is what is expected of their mean. */
  mean() {
    return { mean: this.means / this.count, deviation: Math.sqrt(this.variances) / this.count };
  }
}
