// The table: the decoded data of the page.

const model = JSON.parse(document.getElementById("model").textContent);
const trailerSize = 5;
const blocks = await decodeBlocks(model.blocks);

/** decodeBlocks returns the data blocks, a typed array for each of their figures. */
async function decodeBlocks(packed) {
  const n = packed.count;
  const b = {
    count: n, left: packed.left ?? 0, errors: packed.errors, entryBytes: await unpack(packed.entries),
    offset: new Float64Array(n), length: new Float64Array(n), raw: new Float64Array(n),
    entries: new Float64Array(n), users: new Float64Array(n), deletions: new Float64Array(n), compression: new Uint8Array(n),
    held: new Float64Array(n), heldAt: new Float64Array(n),
  };
  const cursor = new Cursor(await unpack(packed.columns));
  for (let i = 0, end = 0, heldAt = 0; i < n; i++) {
    b.offset[i] = end + cursor.uvarint();
    for (const column of [b.length, b.raw, b.entries, b.users, b.deletions, b.compression, b.held]) column[i] = cursor.uvarint();
    end = b.offset[i] + b.length[i] + trailerSize;
    b.heldAt[i] = heldAt;
    heldAt += b.held[i];
  }
  b.separators = decodeSeparators(await unpack(packed.separators), n, packed.separator_bytes);
  return b;
}

/** decodeSeparators returns a function for the separator of each block. */
function decodeSeparators(packed, count, size) {
  const cursor = new Cursor(packed);
  const bytes = new Uint8Array(size);
  const ends = new Float64Array(count + 1);
  for (let i = 0, last = 0, at = 0; i < count; i++) {
    const shared = cursor.uvarint();
    bytes.copyWithin(at, last, last + shared);
    const rest = cursor.take(cursor.uvarint());
    bytes.set(rest, at + shared);
    last = at;
    at += shared + rest.length;
    ends[i + 1] = at;
  }
  return (i) => bytes.subarray(ends[i], ends[i + 1]);
}

/**
 * entriesOf yields the entries of a block that the page has. The key is overwritten
 * by the next one.
 */
function* entriesOf(block) {
  const cursor = new Cursor(blocks.entryBytes, blocks.heldAt[block]);
  const end = cursor.at + blocks.held[block];
  let buffer = new Uint8Array(256);
  while (cursor.at < end) {
    const shared = cursor.uvarint();
    const rest = cursor.take(cursor.uvarint());
    const length = shared + rest.length;
    if (length > buffer.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(buffer);
      buffer = larger;
    }
    buffer.set(rest, shared);
    const valueLength = cursor.uvarint();
    yield { key: buffer.subarray(0, length), valueLength, shown: cursor.take(cursor.uvarint()) };
  }
}

const compareKeys = model.internal ? compareInternal : compareBytes;

/** firstBlock returns the first block whose separator is ≥ the key. */
function firstBlock(key) {
  let low = 0, high = blocks.count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (compareKeys(blocks.separators(middle), key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const compressionName = (id) => model.compressions[id] ?? "unknown";

/** keyText is a stored key as text: of an internal key the user's, and the rest. */
function keyText(key) {
  if (!model.internal || key.length < internalTrailer) return `“${shorten(escapeBytes(key.subarray(0, 512)))}”`;
  return `“${shorten(escapeBytes(userPart(key).subarray(0, 512)))}”, sequence ${sequenceOf(key)}`;
}
