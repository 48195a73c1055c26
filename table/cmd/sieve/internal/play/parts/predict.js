// The expected rate of LevelDB's bits, as the library's filter.PredictRate computes it for filters of fewer than
// 65,537 bits. A fixed sample of hashes is looked up in a filter whose bits are known only by their
// probabilities.

const sampled = 2 ** 16;

/** predict returns the expected shares of set bits and of false positives, with n random keys. */
function predict(n, size, k) {
  if (n === 0) return { fill: 0, rate: 0 };
  const clear = clearBits(n, size, k);
  const next = randomNumbers(1);
  const seen = new Uint32Array(mostProbes);
  let sum = 0;
  for (let i = 0; i < sampled; i++) sum += passChance(next(), size, k, clear, seen);
  const rate = sum / sampled + 2 * n / size / size; // keys whose bits follow the same sequence; measured
  const sameHash = -Math.expm1(-n / 2 ** 32);
  return {
    fill: 1 - clear.reduce((a, b) => a + b) / clear.length,
    rate: Math.min(1, rate + (1 - rate) * sameHash),
  };
}

/**
 * clearBits returns the probability that a bit is clear, by its remainder: 3, 5 and 17 divide
 * 2³²−1, and where they divide the size too, keys set some bits more often than others.
 */
function clearBits(n, size, k) {
  const distinct = 1 - (k - 1) / (2 * size); // coinciding bits of a key set one bit less
  const divisor = greatestDivisor(size, 3 * 5 * 17);
  return Array.from({ length: divisor }, (_, remainder) => {
    const set = distinct * setByKey(remainder, divisor, size, k);
    return Math.exp(n * Math.log1p(-Math.min(set, 1)));
  });
}

/** setByKey returns the probability that a key sets a bit with this remainder. */
function setByKey(remainder, divisor, size, k) {
  let p = 0;
  for (let i = 0; i < k; i++) {
    const common = greatestDivisor(1 + i * 2 ** 15, divisor);
    for (let overflows = 0; overflows <= i; overflows++) {
      if ((overflows + remainder) % common === 0) p += overflowChance(i, overflows) * common / size;
    }
  }
  return p;
}

/** overflowChance returns the probability that h + i steps overflows 32 bits this many times. */
function overflowChance(i, overflows) {
  if (i === 0) return 1;
  return overflows === 0 || overflows === i ? 1 / (2 * i) : 1 / i;
}

/** passChance returns the probability that all bits of a hash are set. Some of them may coincide. */
function passChance(h, size, k, clear, seen) {
  const step = stepOf(h);
  let p = 1, different = 0;
  for (let i = 0; i < k; i++) {
    const bit = h % size;
    let j = 0;
    while (j < different && seen[j] !== bit) j++;
    if (j === different) {
      seen[different++] = bit;
      p *= 1 - clear[bit % clear.length];
    }
    h = (h + step) >>> 0;
  }
  return p;
}

function greatestDivisor(a, b) {
  while (b > 0) [a, b] = [b, a % b];
  return a;
}
