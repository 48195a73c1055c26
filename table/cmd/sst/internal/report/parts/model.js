// The table: the decoded data of the page.

const trailerSize = 5;

/** decodeBlocks returns the data blocks as one array for each of their figures. */
async function decodeBlocks({ count, left = 0, errors, index, entries }) {
  const { Columns, Separators } = JSON.parse(new TextDecoder().decode(await unpack(index)));
  const [offset, length, raw, entryCounts, users, deletions, compression, held] = Columns.map((column) => column ?? []);
  let end = 0;
  const heldAt = held.map((n) => (end += n) - n);
  return { count, left, errors, offset, length, raw, entries: entryCounts, users, deletions, compression, held, heldAt,
    entryBytes: await unpack(entries), separators: (i) => decodeBase64(Separators[i]) };
}

/** entriesOf yields the entries of a block, if they are in the page. Each key is overwritten by the next. */
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

const compareKeys = (a, b) => model.internal ? compareInternal(a, b) : compareBytes(a, b);

/**
 * firstOf returns the first number < end for which holds is true, or end. holds must stay true for
 * larger numbers.
 */
function firstOf(end, holds) {
  let low = 0, high = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** firstBlock returns the first block whose separator is ≥ the key. */
const firstBlock = (key) => firstOf(blocks.count, (i) => compareKeys(blocks.separators(i), key) >= 0);

const compressionName = (id) => model.compressions[id] ?? "unknown";

/** keyText returns a stored key as text. An internal key is split into the user key and the rest. */
function keyText(key) {
  if (!model.internal || key.length < internalTrailer) return quote(key);
  return `${quote(userPart(key))}, sequence ${sequenceOf(key)}`;
}
