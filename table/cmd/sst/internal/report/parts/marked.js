// The data blocks that contain keys of a range, marked in the map.

/** afterPrefix returns the first key after all keys with a prefix, or null if there is none. */
function afterPrefix(prefix) {
  let end = prefix.length;
  while (end > 0 && prefix[end - 1] === 0xff) end--;
  if (end === 0) return null;
  const after = prefix.slice(0, end);
  after[end - 1]++;
  return after;
}

/** edgeKeys returns the smallest and the largest user key of a block, or null if they are not in the page. */
function edgeKeys(block) {
  if (blocks.held[block] === 0) return null;
  let first = null, last;
  for (const { key } of entriesOf(block)) {
    last = userKeyOf(key);
    first ??= last.slice();
  }
  return [first, last];
}

const userKeyOf = (key) => model.internal && key.length >= internalTrailer ? userPart(key) : key;

/**
 * blocksOf returns the blocks with user keys ≥ from and < to: those from first to before end. It
 * uses the index, and the entries of the blocks at both ends. exact reports whether these entries
 * are known. from or to can be null.
 */
function blocksOf(from, to) {
  let first = from ? firstBlock(seekKey(from)) : 0;
  let end = to ? Math.min(firstBlock(seekKey(to)) + 1, blocks.count) : blocks.count;
  const more = blocks.left > 0 && (!to || firstBlock(seekKey(to)) === blocks.count);
  let exact = !more;
  if (from && first < end) {
    const edge = edgeKeys(first);
    if (edge && compareBytes(edge[1], from) < 0) first++;
    exact &&= edge !== null;
  }
  if (to && first < end) {
    const edge = edgeKeys(end - 1);
    if (edge && compareBytes(edge[0], to) >= 0) end--;
    exact &&= edge !== null;
  }
  return { first, end: Math.max(first, end), exact, more };
}

/** markedText describes the marked blocks. */
function markedText({ first, end, exact, more }) {
  const beyond = more ? ` The ${count(blocks.left, "blocks")} not in this page may contain more.` : "";
  if (first === end) return `No data block ${exact ? "contains" : blocks.left ? "in this page contains" : "may contain"} such keys.${beyond}`;
  let stored = 0;
  for (let i = first; i < end; i++) stored += blocks.length[i];
  const verb = exact ? end - first === 1 ? "contains" : "contain" : "may contain";
  return `${number(end - first)} of ${count(blocks.count + blocks.left, "data blocks")}, ${size(stored)}, ${verb} such keys.${beyond}`;
}

/** A Marking contains the three boxes for keys. A prefix excludes the other two. */
class Marking {
  constructor(map, picker) {
    Object.assign(this, { map, picker, boxes: ["prefix", "from", "to"].map((id) => byId(id)) });
    for (const box of this.boxes) {
      box.addEventListener("input", () => {
        for (const other of this.boxes) {
          if (other !== box && (other.id === "prefix" || box.id === "prefix") && box.value) other.value = "";
        }
        this.show();
        keepView(this.values());
      });
    }
    byId("marking").hidden = blocks.count === 0 || Boolean(model.order);
  }

  values() {
    return Object.fromEntries(this.boxes.map(({ id, value }) => [id, value]));
  }

  /** restore sets the boxes from a view. */
  restore(view) {
    for (const box of this.boxes) box.value = view[box.id] ?? "";
    this.show();
  }

  show() {
    const typed = this.boxes.map((box) => typedKey(box)), wrong = typed.findLast((one) => one.wrong)?.wrong;
    const [prefix, from, to] = typed.map(({ key }) => key?.length ? key : null);
    const text = this.mark(prefix ?? from, prefix ? afterPrefix(prefix) : to, wrong);
    byId("marked").textContent = wrong ?? text;
    this.picker.refresh();
  }

  /** mark marks the blocks of a range in the map, and returns a description. */
  mark(from, to, wrong) {
    this.map.marked = null;
    if (wrong || !from && !to || byId("marking").hidden) return "";
    if (from && to && compareBytes(from, to) >= 0) return "Empty range: from must be < to.";
    const range = blocksOf(from, to);
    this.map.marked = range;
    return markedText(range);
  }
}
