// XXH3 of 64 bits with seed 0: the hash of keys in binary fuse filters. Numbers are BigInts
// of 64 bits.

const prime32 = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn];
const prime64 = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];
const primeMix = [0x165667919e3779f9n, 0x9fb21c651e98df25n];

/** The specification's secret: 192 bytes. */
const secret = Uint8Array.from((
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
  "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
  "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb" +
  "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
).match(/../g), (byte) => parseInt(byte, 16));

const word64 = (n) => BigInt.asUintN(64, n);
const dataView = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const read32 = (bytes, at) => BigInt(dataView(bytes).getUint32(at, true));
const read64 = (bytes, at) => dataView(bytes).getBigUint64(at, true);
const secret64 = (at) => read64(secret, at);
const rotate = (n, bits) => word64(n << bits) | n >> 64n - bits;

/** swap reverses the order of the bytes. */
function swap(n) {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigUint64(0, n, true);
  return bytes.getBigUint64(0, false);
}

/** fold multiplies to 128 bits, and combines both halves. */
function fold(a, b) {
  const product = a * b;
  return word64(product) ^ product >> 64n;
}

function avalanche(h) {
  h = word64((h ^ h >> 37n) * primeMix[0]);
  return h ^ h >> 32n;
}

/** oldAvalanche is XXH64's avalanche. */
function oldAvalanche(h) {
  h = word64((h ^ h >> 33n) * prime64[1]);
  h = word64((h ^ h >> 29n) * prime64[2]);
  return h ^ h >> 32n;
}

/** xxh3 returns the hash of bytes. */
function xxh3(bytes) {
  const n = bytes.length;
  if (n === 0) return oldAvalanche(secret64(56) ^ secret64(64));
  if (n <= 3) return hashTo3(bytes, n);
  if (n <= 8) return hashTo8(bytes, n);
  if (n <= 16) return hashTo16(bytes, n);
  if (n <= 128) return hashTo128(bytes, n);
  return n <= 240 ? hashTo240(bytes, n) : hashLong(bytes, n);
}

function hashTo3(bytes, n) {
  const joined = (bytes[0] << 16 | bytes[n >> 1] << 24 | bytes[n - 1] | n << 8) >>> 0;
  return oldAvalanche(BigInt(joined) ^ read32(secret, 0) ^ read32(secret, 4));
}

function hashTo8(bytes, n) {
  let h = read32(bytes, n - 4) + (read32(bytes, 0) << 32n) ^ secret64(8) ^ secret64(16);
  h = word64((h ^ rotate(h, 49n) ^ rotate(h, 24n)) * primeMix[1]);
  h = word64((h ^ (h >> 35n) + BigInt(n)) * primeMix[1]);
  return h ^ h >> 28n;
}

function hashTo16(bytes, n) {
  const low = read64(bytes, 0) ^ secret64(24) ^ secret64(32);
  const high = read64(bytes, n - 8) ^ secret64(40) ^ secret64(48);
  return avalanche(word64(BigInt(n) + swap(low) + high + fold(low, high)));
}

/** mix16 mixes 16 bytes with 16 bytes of the secret. */
function mix16(bytes, at, key) {
  return fold(read64(bytes, at) ^ secret64(key), read64(bytes, at + 8) ^ secret64(key + 8));
}

/** hashTo128 mixes 16 bytes from each end, and proceeds inwards. */
function hashTo128(bytes, n) {
  let h = BigInt(n) * prime64[0];
  for (let i = 0; 32 * i < n; i++) h += mix16(bytes, 16 * i, 32 * i) + mix16(bytes, n - 16 * (i + 1), 32 * i + 16);
  return avalanche(word64(h));
}

function hashTo240(bytes, n) {
  let h = BigInt(n) * prime64[0];
  for (let i = 0; i < 8; i++) h += mix16(bytes, 16 * i, 16 * i);
  h = avalanche(word64(h));
  for (let i = 8; 16 * (i + 1) <= n; i++) h += mix16(bytes, 16 * i, 16 * (i - 8) + 3);
  return avalanche(word64(h + mix16(bytes, n - 16, 119)));
}

const stripe = 64; // bytes, as eight numbers
const stripesPerBlock = (secret.length - stripe) / 8;

/** hashLong adds up stripes, mixes the sums after each block of stripes, and folds them. */
function hashLong(bytes, n) {
  const sums = [prime32[2], ...prime64.slice(0, 4), prime32[1], prime64[4], prime32[0]];
  const whole = Math.floor((n - 1) / stripe); // the last stripe may overlap these
  for (let i = 0; i < whole; i++) {
    addStripe(sums, bytes, i * stripe, i % stripesPerBlock * 8);
    if ((i + 1) % stripesPerBlock === 0) scramble(sums);
  }
  addStripe(sums, bytes, n - stripe, secret.length - stripe - 7);
  let h = BigInt(n) * prime64[0];
  for (let i = 0; i < 8; i += 2) h += fold(sums[i] ^ secret64(11 + 8 * i), sums[i + 1] ^ secret64(19 + 8 * i));
  return avalanche(word64(h));
}

function addStripe(sums, bytes, at, key) {
  for (let i = 0; i < 8; i++) {
    const value = read64(bytes, at + 8 * i), keyed = value ^ secret64(key + 8 * i);
    sums[i ^ 1] = word64(sums[i ^ 1] + value);
    sums[i] = word64(sums[i] + (keyed & 0xffffffffn) * (keyed >> 32n));
  }
}

function scramble(sums) {
  for (let i = 0; i < 8; i++) {
    sums[i] = word64((sums[i] ^ sums[i] >> 47n ^ secret64(secret.length - stripe + 8 * i)) * prime32[0]);
  }
}
