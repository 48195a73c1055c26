// The steps of a lookup, as in the library: the table filter, the index, the block filter, the data
// block.

/**
 * lookup looks up a key, which is a user key if keys are internal. It returns the steps (whole,
 * visits) and the outcome: found, deleted, absent, damaged, maybe if the table is filter-only, or
 * unknown if the page lacks needed parts. by names the part that ended the lookup.
 */
function lookup(key) {
  if (model.order) return { key, whole: null, visits: [], outcome: "unknown", by: "order" };
  const path = { key, whole: null, visits: [], outcome: "absent", by: "filter of the table" };
  if (wholeFilter) {
    path.whole = wholeFilter.ask(key);
    if (!path.whole.contains) return path;
  }
  if (model.filter_only || model.hidden) {
    path.outcome = model.whole?.left_out ? "unknown" : model.hidden ? "damaged" : "maybe";
    return path;
  }
  visitBlocks(path, seekKey(key));
  if (path.outcome === "damaged" && filtersLeftOut().length) path.outcome = "unknown"; // they may rule the key out
  return path;
}

/** visitBlocks adds the data blocks that a lookup reads, and the outcome. */
function visitBlocks(path, sought) {
  path.by = "index";
  for (let i = firstBlock(sought); i < blocks.count + Math.min(blocks.left, 1); i++) {
    if (i === blocks.count) {
      Object.assign(path, { outcome: "unknown", by: "index left out" });
      return;
    }
    const visit = visitBlock(i, path.key, sought);
    path.visits.push(visit);
    path.outcome = visit.outcome;
    path.by = visit.by;
    if (visit.outcome !== "absent" || visit.entry || !goesOn(i, path.key)) return;
  }
}

/** filtersLeftOut returns the names of the table's filters that are not in the page. */
function filtersLeftOut() {
  return [...model.whole?.left_out ? ["table filter"] : [], ...model.filter?.left_out ? ["block filters"] : []];
}

/** seekKey returns the key right before all versions of a user key. */
function seekKey(key) {
  if (!model.internal) return key;
  const sought = new Uint8Array(key.length + internalTrailer).fill(0xff);
  sought.set(key);
  return sought;
}

/** goesOn reports whether versions of the key may be in the block after this one. */
function goesOn(block, key) {
  const separator = blocks.separators(block);
  return model.internal && separator.length >= internalTrailer && equalBytes(userPart(separator), key);
}

/** visitBlock checks the block filter, and searches the block. */
function visitBlock(block, key, sought) {
  const visit = { block, filter: null, entry: null, outcome: "absent", by: "filter" };
  if (blockFilter) {
    visit.filter = blockFilter.ask(blocks.offset[block], key);
    if (!visit.filter.contains) return visit;
  }
  visit.by = "data block";
  if (blocks.errors[block]) {
    visit.outcome = "damaged";
  } else if (blocks.entries[block] > 0 && blocks.held[block] === 0) {
    visit.outcome = "unknown";
  } else {
    visit.entry = searchBlock(block, sought);
    visit.outcome = outcomeOf(visit.entry, key);
  }
  return visit;
}

/** searchBlock returns the first entry with a key ≥ the wanted key, or null. */
function searchBlock(block, sought) {
  let index = 0;
  for (const entry of entriesOf(block)) {
    if (compareKeys(entry.key, sought) >= 0) return { ...entry, index };
    index++;
  }
  return null;
}

function outcomeOf(entry, key) {
  if (!entry) return "absent";
  if (!model.internal) return equalBytes(entry.key, key) ? "found" : "absent";
  if (entry.key.length < internalTrailer || !equalBytes(userPart(entry.key), key)) return "absent";
  return kindOf(entry.key) === 0 ? "deleted" : "found";
}

window.lookup = lookup;
