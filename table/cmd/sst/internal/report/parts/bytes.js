// Bytes: base64, compression, varints and orders.

/** decodeBase64 decodes base64 to bytes. */
function decodeBase64(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** unpack decodes base64 of a DEFLATE stream, and decompresses it. */
async function unpack(base64) {
  const stream = new Blob([decodeBase64(base64)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A Cursor reads packed bytes from the front. */
class Cursor {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** uvarint reads 7 bits per byte, the lowest first. Shifts would be limited to 32 bits. */
  uvarint() {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.bytes[this.at++];
      if (byte < 128) return value + byte * unit;
      value += (byte - 128) * unit;
    }
  }

  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

function compareBytes(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i] - b[i];
  }
  return a.length - b.length;
}

function equalBytes(a, b) {
  return a.length === b.length && compareBytes(a, b) === 0;
}

// Internal keys are a user key and 8 bytes: kind, and sequence number, the lowest byte first.
// Versions of a user key are ordered from the highest sequence number to the lowest.

const internalTrailer = 8;

function userPart(key) {
  return key.subarray(0, key.length - internalTrailer);
}

function compareInternal(a, b) {
  if (a.length < internalTrailer || b.length < internalTrailer) return compareShort(a, b);
  return compareBytes(userPart(a), userPart(b)) || compareTrailers(b, a);
}

/** compareShort puts keys that are too short for internal keys before all others. */
function compareShort(a, b) {
  if (b.length >= internalTrailer) return -1;
  if (a.length >= internalTrailer) return 1;
  return compareBytes(a, b);
}

function compareTrailers(a, b) {
  for (let i = 1; i <= internalTrailer; i++) {
    const order = a[a.length - i] - b[b.length - i];
    if (order !== 0) return order;
  }
  return 0;
}

/** sequenceOf returns the sequence number as text, since it can exceed 2⁵³. */
function sequenceOf(key) {
  let sequence = 0n;
  for (let i = 1; i < internalTrailer; i++) sequence = sequence << 8n | BigInt(key[key.length - i]);
  return sequence.toLocaleString("en-US");
}

function kindOf(key) {
  return key[key.length - internalTrailer];
}
