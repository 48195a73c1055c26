// The steps of a lookup as text.

const quote = (bytes) => `“${shorten(escapeBytes(bytes.subarray(0, 512)))}”`;

/** verdict returns the result, with a mark, and the reason. */
function verdict(path) {
  const visit = path.visits.at(-1);
  switch (path.outcome) {
    case "found":
      return ["✓ Found", `It has ${entryText(visit.entry)}.`];
    case "deleted":
      return ["✗ Absent: deleted", `Deleted by sequence number ${sequenceOf(visit.entry.key)}.`];
    case "damaged":
      return ["⚠ Damaged", `The lookup needs a damaged block: ${visit ? blocks.errors[visit.block] : model.hidden}`];
    case "maybe":
      return ["◆ May be present", "The table filter may contain the key. There are no entries to check."];
    case "unknown":
      if (path.by === "order") return ["? Not searched", `This page cannot look up keys in this order (${model.order}). Try this command:`];
      return ["? Not in the page", unknownText(path) + (filtersLeftOut().length ? "" : " To look it up, run:")];
  }
  return ["✗ Absent", reasonText(path, visit)];
}

/** unknownText describes the parts that a lookup needs but the page lacks. */
function unknownText(path) {
  switch (path.by) {
    case "index left out":
      return `The key may be in the last ${count(blocks.left, "data blocks")}, which this page leaves out.`;
    case "filter of the table":
      return "There are no entries to check.";
  }
  return blocks.errors[path.visits.at(-1).block] ? "The data block is damaged. A filter that this page leaves out may rule the key out."
    : "This page leaves out the block's keys.";
}

function reasonText(path, visit) {
  switch (path.by) {
    case "filter of the table":
      return "The table filter rules the key out. Nothing else is read.";
    case "index":
      return (blocks.count ? "The key is > all separators in the index." : "The table is empty.") + mistakeText(path.whole);
    case "filter":
      return "The block filter rules the key out. The data block is not read." + mistakeText(path.whole);
  }
  return "The data block does not contain the key." + mistakeText(path.whole, visit.filter && !visit.filter.missing);
}

/** mistakeText names the filters with false positives. */
function mistakeText(whole, block) {
  if (whole && block) return " Both filters gave false positives.";
  if (!whole && !block) return "";
  return ` The ${whole ? "table" : "block"} filter gave a false positive.`;
}

/** entryText describes the entry that was found. */
function entryText({ key, valueLength, shown }) {
  const version = model.internal ? `sequence ${sequenceOf(key)}, kind ${kindOf(key)}${kindOf(key) === 1 ? " (set)" : ""}, ` : "";
  if (valueLength === 0) return `${version}an empty value`;
  const more = shown.length < valueLength ? "…" : "";
  return `${version}a value of ${count(valueLength, "bytes")}, “${escapeBytes(shown)}${more}”`;
}

/** commandFor returns the command that looks up a key. */
function commandFor(key, ...flags) {
  const text = escapeBytes(key);
  const dashes = text.startsWith("-") ? ["--"] : []; // otherwise it would be parsed as a flag
  return ["sst get", model.source, ...flags, ...dashes, shellQuote(text)].join(" ");
}

const commandLine = (command) => element("pre", {}, element("code", {}, command));

/**
 * commandsFor returns the command for results that the page cannot determine, or for filters that
 * are not in the page.
 */
function commandsFor(path) {
  if (path.outcome === "unknown" && path.by === "order") return [commandLine(commandFor(path.key))];
  const left = filtersLeftOut();
  if (left.length) {
    return [element("p", {}, `This page leaves out the ${left.join(" and the ")}. For all steps, run:`),
      commandLine(commandFor(path.key, "--explain"))];
  }
  return path.outcome === "unknown" ? [commandLine(commandFor(path.key))] : [];
}

const notHeld = ["? not in the page", "maybe"];

/** leftStep returns the step of a filter that is not in the page. */
function leftStep(title, filter) {
  return step(title, notHeld, factList([["policy", filter.name], ["size", size(filter.bytes)]]));
}

/** shellQuote quotes the text as one word for a shell. */
function shellQuote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

/** step returns the element for a step. */
function step(title, answer, ...content) {
  return element("li", {},
    element("h4", {}, title, element("span", { className: `answer ${answer[1]}` }, answer[0])), ...content);
}

const mayContain = ["◆ may contain", "maybe"];
const certainlyAbsent = ["✗ certainly absent", "no"];

function answerOf(filter) {
  return filter.contains ? mayContain : certainlyAbsent;
}

/** probesOf shows the hash of the key, the bits of the filter and the probed bits. */
function probesOf(answer, facts) {
  const all = factList([...facts, ["bits", number(answer.size)], ["k", number(answer.k)],
    ["hash", hexWord(answer.hash)], ["step", hexWord(answer.step)]]);
  return [all, probeList(answer), ...repeatNote(answer), ...bitsFigures(answer)];
}

function wholeStep(answer) {
  if (wholeFilter instanceof FuseFilter) return fuseStep(answer);
  const line = ["line, hash mod lines", `${number(answer.line)} of ${number(wholeFilter.count)}`];
  return step("Table filter", answerOf(answer), ...probesOf(answer, [line]));
}

function indexStep(visit) {
  if (!visit) {
    return step("Index", ["✗ key > all separators", "no"], element("p", {}, `None of the ${number(blocks.count + blocks.left)} separators is ≥ the key.`));
  }
  const i = visit.block;
  return step("Index", ["→ one data block", "maybe"], factList([
    ["entry", `${number(i + 1)} of ${number(blocks.count + blocks.left)}`], ["separator", keyText(blocks.separators(i))],
    ["data block at", number(blocks.offset[i])], ["size", count(blocks.length[i], "bytes")]]));
}

function filterStep(visit) {
  const answer = visit.filter;
  const sum = `${number(answer.slot)}: the block starts at ${number(blocks.offset[visit.block])}, and there is one filter per ${number(2 ** blockFilter.baseLg)} bytes`;
  const slot = ["filter number", sum];
  if (answer.missing) return step("Block filter", mayContain, factList([slot]), element("p", {}, "The filter block has no filter with this number."));
  if (!answer.size) return step("Block filter", answerOf(answer), factList([slot]), element("p", {}, "This filter is empty."));
  const note = answer.reserved ? [element("p", {}, `k > ${mostProbes} is reserved: the filter is treated as containing every key.`)] : [];
  return step("Block filter", answerOf(answer), ...note, ...probesOf(answer, [slot]));
}

const blockAnswers = {
  found: ["✓ found", "yes"], deleted: ["✗ deleted", "no"], absent: ["✗ absent", "no"],
  damaged: ["⚠ damaged", "no"], unknown: ["? not in the page", "maybe"],
};

function blockStep(visit) {
  const i = visit.block, entry = visit.entry;
  const facts = [["at", number(blocks.offset[i])], ["stored", count(blocks.length[i], "bytes")]];
  if (visit.outcome !== "damaged") facts.push(["entries", number(blocks.entries[i])]);
  if (entry) facts.push([visit.outcome === "absent" ? "next entry" : "entry", `${number(entry.index + 1)}: ${keyText(entry.key)}`]);
  if (visit.outcome === "found") facts.push(["contains", entryText(entry)]);
  return step("Data block", blockAnswers[visit.outcome], factList(facts));
}

/** pathSteps returns the list of steps. */
function pathSteps(path) {
  const steps = path.whole ? [wholeStep(path.whole)] : [];
  if (model.whole?.left_out && path.by !== "order") steps.push(leftStep("Table filter", model.whole));
  if (path.by === "index") steps.push(indexStep());
  for (const visit of path.visits) {
    steps.push(indexStep(visit));
    if (visit.filter) steps.push(filterStep(visit));
    if (model.filter?.left_out) steps.push(leftStep("Block filter", model.filter));
    if (visit.by === "data block") steps.push(blockStep(visit));
  }
  if (path.by === "index left out") steps.push(step("Index", notHeld));
  return element("ol", { className: "path" }, ...steps);
}
