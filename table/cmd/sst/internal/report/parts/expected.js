// The expected number of set bits in a Bloom filter, and its random deviation.

/**
 * spreadOf returns the mean and the standard deviation of the share of set bits among m. one is the
 * probability that a given bit stays clear, and two that two given bits stay clear.
 */
function spreadOf(m, one, two) {
  const variance = m * one + m * (m - 1) * two - (m * one) ** 2; // of the number of clear bits
  return { mean: 1 - one, deviation: Math.sqrt(Math.max(variance, 0)) / m };
}

/** unknownFill is the expected fill for an unknown number of keys. */
const unknownFill = { mean: NaN, deviation: NaN };

/** expectedFill returns the expected fill of m bits after n keys with k probes each. */
function expectedFill(m, k, n) {
  return spreadOf(m, Math.exp(k * n * Math.log1p(-1 / m)), Math.exp(k * n * Math.log1p(-2 / m)));
}

/**
 * expectedLine returns the expected fill of a line of m bits, if each of n keys is in one of the
 * lines by chance.
 */
function expectedLine(m, k, n, lines) {
  const clear = (share) => Math.exp(n / lines * Math.expm1(k * Math.log1p(-share)));
  return spreadOf(m, clear(1 / m), clear(2 / m));
}

/** expectedFact describes an expected fill. */
function expectedFact({ mean, deviation }) {
  return ["expected", Number.isNaN(mean) ? "unknown, since the keys are" : `${percent(mean)} ± ${percent(2 * deviation)}, 2σ`];
}

/** isFar returns 1 or -1 if a fill is above or below the expected one by more than 2σ, and 0 otherwise. */
function isFar(fill, { mean, deviation }) {
  const off = fill - mean;
  return Math.abs(off) > 2 * deviation + 1e-9 ? Math.sign(off) : 0;
}

/** An ExpectedSum adds up the expected fills of filters. There can be hundreds of thousands. */
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

  /** one returns the expected fill of a filter that is chosen at random. */
  one() {
    const mean = this.means / this.count;
    const variance = (this.variances + this.squares) / this.count - mean ** 2;
    return { mean, deviation: Math.sqrt(Math.max(variance, 0)) };
  }

  /** mean returns the expected mean of the fills. */
  mean() {
    return { mean: this.means / this.count, deviation: Math.sqrt(this.variances) / this.count };
  }
}
