// This puts the page together.

/** restore shows the state of a link, or a filter with a few keys if the link has none. */
function restore(play, link) {
  const { settings, keys, examples: kind, asked, problem } = stateOf(link);
  play.examples = kind;
  play.asked = null;
  play.rebuild(settings, keys);
  if (link.length < 2) examples[kind].addTo(play.sieve, 10);
  play.filterChanged();
  byId("key").value = asked ? escapeBytes(asked) : "";
  if (asked) play.ask(asked);
  byId("link-problem").textContent = problem;
}

function start() {
  const play = new Play();
  for (const show of [showSettings, showKeys, showBits, showAsk, showRates, showSpeed]) show(play);
  restore(play, location.hash);
  keepLink(play);
  window.addEventListener("hashchange", ({ newURL }) => restore(play, new URL(newURL).hash)); // keepLink may have changed location
}

start();
