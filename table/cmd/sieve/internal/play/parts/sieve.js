// The page's filter: LevelDB's bits, and the keys that set each.

const mostKeys = 3200;
const mostKeyBytes = 64;

/** probesFor returns LevelDB's k: 69 % of the bits per key, rounded down. */
const probesFor = (perKey) => Math.max(1, Math.min(mostProbes, Math.floor(perKey * 69 / 100)));

/** sizeFor returns the number of bits in LevelDB's filter of n keys: at least 64, and whole bytes. */
const sizeFor = (n, perKey) => Math.ceil(Math.max(n * perKey, 64) / 8) * 8;

/** hasBits reports whether all k bits of a hash are set in an array of size bits. */
function hasBits(bits, size, k, h) {
  const step = stepOf(h);
  for (; k > 0; k--) {
    if (!isSet(bits, h % size)) return false;
    h = (h + step) >>> 0;
  }
  return true;
}

/** setBits sets the k bits of a hash. */
function setBits(bits, size, k, h) {
  const step = stepOf(h);
  for (; k > 0; k--) {
    const bit = h % size;
    bits[bit >> 3] |= 1 << bit % 8;
    h = (h + step) >>> 0;
  }
}

/** A Sieve is a filter for n keys, with the added keys. */
class Sieve {
  constructor(n, perKey, k) {
    Object.assign(this, { n, perKey, k, size: sizeFor(n, perKey), keys: [], byText: new Map(), hashes: new Set() });
    this.filter = new Uint8Array(this.size / 8 + 1);
    this.filter[this.size / 8] = k;
    this.bits = this.filter.subarray(0, this.size / 8);
    this.setters = Array.from({ length: this.size }, () => []);
  }

  /** has reports whether the key with this text was added. The text of a key has escapes. */
  has(text) {
    return this.byText.has(text);
  }

  /** add adds a key, if it is new and there is room. It reports whether it did. */
  add(bytes) {
    const text = escapeBytes(bytes);
    if (this.has(text) || this.keys.length >= mostKeys) return false;
    const { hash, probes } = askBloom(this.filter, bytes);
    const key = { text, bytes, hash, bits: [...new Set(probes.map((probe) => probe.bit))] };
    for (const bit of key.bits) {
      this.bits[bit >> 3] |= 1 << bit % 8;
      this.setters[bit].push(key);
    }
    this.keys.push(key);
    this.byText.set(text, key);
    this.hashes.add(hash);
    return true;
  }

  /** ask looks a key up. As in LevelDB, the probes end with the first one that finds a clear bit. */
  ask(bytes) {
    const text = escapeBytes(bytes);
    const answer = askBloom(this.filter, bytes);
    const clear = answer.probes.findIndex((probe) => !probe.set);
    if (clear >= 0) answer.probes.length = clear + 1;
    return { ...answer, text, bytes, added: this.has(text) };
  }

  /** passes reports whether all bits of a hash are set. */
  passes(h) {
    return hasBits(this.bits, this.size, this.k, h);
  }
}
