// Building the page, and looking up typed keys.

const longestFirst = 80; // bytes of the key that is looked up first

/** heldText describes the parts that are in the page, and those that are left out. */
function heldText() {
  const full = blocks.entries.filter((n) => n > 0).length, held = blocks.held.filter((n) => n > 0).length;
  const left = [];
  if (blocks.left) left.push(`the last ${number(blocks.left)} of ${count(blocks.count + blocks.left, "data blocks")}`);
  if (model.whole?.left_out) left.push(`the table filter (${size(model.whole.bytes)})`);
  if (model.filter?.left_out) left.push(`the block filters (${size(model.filter.bytes)})`);
  if (full > held) left.push(`the keys of ${number(full - held)} of ${blocks.left ? "the other " : ""}${number(full)} data blocks`);
  const damaged = damageText();
  if (left.length) return `This page leaves out ${new Intl.ListFormat("en-GB").format(left)}.${damaged}`;
  if (model.filter_only) return "This page contains the filter. The table has nothing else.";
  return damaged ? `This page contains all of the index, filters and keys that can be read.${damaged}` : "This page contains the index, all filters and all keys.";
}

/** damageText describes the parts that the page lacks because they are damaged. It can be empty. */
function damageText() {
  const blocksDamaged = Object.keys(blocks.errors).length, others = model.parts.filter((part) => part.error).length;
  const keys = blocksDamaged ? ` The keys of ${count(blocksDamaged, "damaged data blocks")} are missing.` : "";
  return keys + (others ? ` Another ${count(others, "damaged parts")} ${others === 1 ? "is" : "are"} missing.` : "");
}

/**
 * firstKey returns a present key as text: one from the middle of the entries in the page, or an
 * example. If there is none, it returns null.
 */
function firstKey() {
  const full = [...blocks.held.keys()].filter((i) => blocks.held[i] > 0);
  const middle = full[full.length >> 1];
  let index = 0, tries = 0;
  for (const { key } of full.length ? entriesOf(middle) : []) {
    if (index++ < blocks.entries[middle] >> 1 || key.length > longestFirst) continue;
    if (lookup(userKeyOf(key).slice()).outcome === "found") return escapeBytes(userKeyOf(key));
    if (++tries === 100) break;
  }
  return model.samples.length ? escapeBytes(decodeBase64(model.samples[0])) : null;
}

/** showAnswer looks up the typed key, and selects the visited blocks and filters in the pictures. */
function showAnswer({ map, line, slot }) {
  const answer = byId("answer"), way = byId("way"), { key, wrong } = typedKey(byId("key"));
  if (wrong) {
    answer.replaceChildren(element("p", { className: "verdict no" }, wrong));
    way.replaceChildren();
    return;
  }
  const path = lookup(key);
  const [word, why] = verdict(path);
  const classes = { found: "yes", unknown: "maybe", maybe: "maybe" };
  answer.replaceChildren(
    element("p", { className: `verdict ${classes[path.outcome] ?? "no"}` }, element("strong", {}, word), ` ${quote(key)}`),
    element("p", {}, why));
  answer.append(...commandsFor(path));
  way.replaceChildren(pathSteps(path));
  if (path.whole) line?.choose(path.whole.line); // a binary fuse filter has no lines
  const visit = path.visits.at(-1);
  if (visit) map.choose(visit.block);
  if (visit?.filter && !visit.filter.missing) slot?.choose(visit.filter.slot);
}

/** showSamples offers example keys, and one that is most likely absent. */
function showSamples(form) {
  const texts = model.samples.map((base64) => escapeBytes(decodeBase64(base64)));
  if (texts.length) texts.push(`${texts.at(-1)}~`);
  const buttons = texts.map((text) => element("button", { type: "button", className: "sample", onclick: () => {
    byId("key").value = text;
    form.requestSubmit();
  } }, text || "the empty key"));
  if (buttons.length) byId("samples").append("Try ", ...buttons);
}

/** showView shows the view in the address or, if it contains no key, a present key. */
function showView(hash, pictures) {
  byId("link-problem").textContent = readView(hash);
  pictures.map.restore(view);
  const key = view.key ?? firstKey();
  if (key === null) return;
  byId("key").value = key;
  showAnswer(pictures);
}

function start() {
  const pictures = { map: new MapSection(), ...showFilters() };
  showHistograms();
  const form = byId("ask");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    showAnswer(pictures);
    keepView({ key: byId("key").value });
  });
  showSamples(form);
  if (model.filter_only) form.prepend(element("p", {}, "This table has only a filter. Lookups end with “may be present” or “absent”."));
  byId("held").textContent = heldText();
  showView(location.hash, pictures);
  onLink((hash) => showView(hash, pictures));
}

const model = JSON.parse(byId("model").textContent);
const blocks = await decodeBlocks(model.blocks);
const blockFilter = model.filter && !model.filter.left_out ? new BlockFilter(await unpack(model.filter.contents)) : null;
const wholeFilter = await wholeFilterOf(model.whole);
const mapChoices = ["part", "compression", ...blocks.count ? ["ratio", "entries"] : [], ...blocks.count && blockFilter ? ["load"] : []];
start();
