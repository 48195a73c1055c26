// Example keys: random words, or numbered users. The filter is tried with the ones that were not added.

const consonants = "bdfghjklmnprstvz";
const vowels = "aeiou";

/** randomNumbers returns a function that returns pseudo-random numbers of 32 bits (xorshift). */
function randomNumbers(seed) {
  let x = seed;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

/** spell returns a word of four syllables for a number. */
function spell(x) {
  let text = "";
  for (let i = 0; i < 4; i++) {
    text += consonants[x % consonants.length];
    x = Math.floor(x / consonants.length);
    text += vowels[x % vowels.length];
    x = Math.floor(x / vowels.length);
  }
  return text;
}

function randomWords() {
  const next = randomNumbers(1);
  return Array.from({ length: 100_000 }, () => spell(next()));
}

function numberedUsers() {
  return Array.from({ length: 9999 }, (_, i) => `user${String(i + 1).padStart(4, "0")}`);
}

/** An Examples is a list of keys that is created on first use. */
class Examples {
  constructor(things, make) {
    Object.assign(this, { things, make });
  }

  prepare() {
    if (this.texts) return;
    this.texts = this.make();
    this.hashes = Uint32Array.from(this.texts, (text) => hash(encoder.encode(text), false));
  }

  /** addTo adds the first n keys that are not in the filter. It returns the number of keys that fitted. */
  addTo(sieve, n) {
    this.prepare();
    let added = 0;
    for (let i = 0; i < this.texts.length && added < n && sieve.keys.length < mostKeys; i++) {
      if (sieve.add(encoder.encode(this.texts[i]))) added++;
    }
    return added;
  }

  wasAdded(sieve, i) {
    return sieve.hashes.has(this.hashes[i]) && sieve.has(this.texts[i]);
  }

  /** measure looks up all keys that were not added. */
  measure(sieve) {
    this.prepare();
    let asked = 0, passed = 0;
    for (let i = 0; i < this.hashes.length; i++) {
      if (this.wasAdded(sieve, i)) continue;
      asked++;
      if (sieve.passes(this.hashes[i])) passed++;
    }
    return { asked, passed };
  }

  /** find returns the index of the next false positive from an index on, or -1. It wraps around. */
  find(sieve, from) {
    this.prepare();
    for (let tried = 0; tried < this.texts.length; tried++) {
      const i = (from + tried) % this.texts.length;
      if (sieve.passes(this.hashes[i]) && !this.wasAdded(sieve, i)) return i;
    }
    return -1;
  }
}

const examples = {
  words: new Examples("words", randomWords),
  numbers: new Examples("user names", numberedUsers),
};
