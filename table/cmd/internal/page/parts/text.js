// Text: bytes as one line with the escapes of Go strings, and back, as sst prints and accepts it.

const named = new Map([[7, "a"], [8, "b"], [12, "f"], [10, "n"], [13, "r"], [9, "t"], [11, "v"], [92, "\\"]]);
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const encoder = new TextEncoder();

const hex = (n, digits) => n.toString(16).padStart(digits, "0");

/** escapeBytes returns bytes as text, with all that is not printable escaped. */
function escapeBytes(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length;) {
    const [rune, size] = runeAt(bytes, i);
    text += rune < 0 ? "\\x" + hex(bytes[i], 2) : escapeRune(rune);
    i += size;
  }
  return text;
}

function escapeRune(rune) {
  if (named.has(rune)) return "\\" + named.get(rune);
  const character = String.fromCodePoint(rune);
  if (printable.test(character)) return character;
  if (rune < 0x20 || rune === 0x7f) return "\\x" + hex(rune, 2);
  return rune < 0x10000 ? "\\u" + hex(rune, 4) : "\\U" + hex(rune, 8);
}

const smallestRune = [0, 0, 0x80, 0x800, 0x10000]; // by number of bytes

/** runeAt decodes UTF-8. It returns -1 for an invalid byte. */
function runeAt(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return [first, 1];
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > bytes.length) return [-1, 1];
  let rune = first & 0xff >> size + 1;
  for (let i = 1; i < size; i++) {
    if ((bytes[at + i] & 0xc0) !== 0x80) return [-1, 1];
    rune = rune << 6 | bytes[at + i] & 0x3f;
  }
  return rune >= smallestRune[size] && isRune(rune) ? [rune, size] : [-1, 1];
}

const isRune = (n) => n <= 0x10ffff && (n < 0xd800 || n > 0xdfff);

const escapes = /\\(?:([abfnrtv\\"])|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y;
const codes = new Map([...named].map(([code, letter]) => [letter, code]).concat([['"', 34]]));

/** unescapeText returns the bytes of text with escapes, or throws an error. */
function unescapeText(text) {
  const pieces = [];
  for (let at = 0; at < text.length;) {
    const backslash = text.indexOf("\\", at);
    const end = backslash < 0 ? text.length : backslash;
    for (const byte of encoder.encode(text.slice(at, end))) pieces.push(byte);
    at = end;
    if (backslash >= 0) {
      pieces.push(...unescapeOne(text, at));
      at = escapes.lastIndex;
    }
  }
  return Uint8Array.from(pieces);
}

/** unescapeOne returns the bytes of the escape at an offset, and sets escapes.lastIndex to its end. */
function unescapeOne(text, at) {
  escapes.lastIndex = at;
  const match = escapes.exec(text);
  const [, letter, byte, octal, short, long] = match ?? [];
  const rune = parseInt(short ?? long, 16);
  if (!match || (short ?? long) && !isRune(rune)) {
    throw new Error(`no such escape: ${text.slice(at, at + 10)} (a backslash is \\\\)`);
  }
  if (letter) return [codes.get(letter)];
  if (byte) return [parseInt(byte, 16)];
  if (octal) return [parseInt(octal, 8)];
  return encoder.encode(String.fromCodePoint(rune));
}

/** shorten cuts off text that is too long to show. */
function shorten(text, length = 60) {
  const runes = text.length > length ? [...text.slice(0, 2 * length)] : [];
  return runes.length > length ? runes.slice(0, length).join("") + "…" : text;
}
