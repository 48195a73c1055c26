package play

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// shown returns the parts of its state that a page shows.
func shown(page *pagetest.Tab) map[string]string {
	all := map[string]string{"bytes": fmt.Sprintf("%x", filterOf(page)), "examples": pagetest.Evaluate[string](page, `document.getElementById("examples").value`)}
	for _, id := range []string{"n", "rate", "bits", "k", "key"} {
		all[id] = pagetest.Call[string](page, `(id) => document.getElementById(id).value`, id)
	}
	for _, id := range []string{"sizing-facts", "keys", "answer", "way", "link-problem"} {
		all[id] = page.Text("#" + id)
	}
	return all
}

// The URL contains the whole state, and a new tab restores it.
func TestLinkKeepsState(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"n=33&rate=2.5", "n=33&rate=2.5%25", "n=40&bits=9&k=4&examples=numbers"} {
		page := openPlay(t, 1000, settings)
		add(page, oddKeys())
		pagetest.Evaluate[any](page, `document.querySelector("[data-add='10']").click()`)
		page.Submit("#key", `\xff\xfe&ask=`)
		link := page.Link(`includes("&ask=")`)
		again := openPlay(t, 1000, link)
		if diff := cmp.Diff(shown(page), shown(again)); diff != "" {
			t.Errorf("%s (-page +restored):\n%s", link, diff)
		}
		if got := shown(again)["keys"]; !strings.HasPrefix(got, "(empty key)") || !strings.Contains(got, `\x80`) {
			t.Errorf("the restored keys are %q", got)
		}
		if values, err := url.ParseQuery(link); err != nil || !slices.Equal(values["key"][:42], escapedAll(oddKeys())) {
			t.Errorf("%s: keys %q, %v", link, values["key"], err)
		}
	}
}

// Whatever a link contains, the page keeps to its bounds, says so, and does not turn the link into HTML.
func TestHostileLinks(t *testing.T) {
	t.Parallel()
	const image = `<img src=x onerror=window.fooled=1>`
	page := openPlay(t, 390, "")
	const cannot = "⚠ Ignored parts of the link: "
	for _, tt := range []struct {
		name, link string
		problem    string
		keys       int
	}{
		{"HTML as keys", "key=" + url.QueryEscape(image) + "&key=</script><script>fooled=1</script>&ask=" + url.QueryEscape(image), "", 2},
		{"HTML as settings", "n=" + image + "&rate=<b>&bits=javascript:fooled=1&k=" + image + "&examples=" + image,
			cannot + "n, “<img src=x onerror=w…”; rate, “<b>”; bits, “javascript:fooled=1”; k, “<img src=x onerror=w…”; examples, “<img src=x onerror=w…”.", 0},
		{"huge settings", "n=1e9&bits=4000000000&k=-1", cannot + "n, “1e9”; bits, “4000000000”; k, “-1”.", 0},
		{"no numbers", "n=NaN&rate=Infinity&bits=&k=1.5", cannot + "n, “NaN”; rate, “Infinity”; bits, “”; k, “1.5”.", 0},
		{"names of properties", "examples=__proto__&key=__proto__&key=constructor&constructor=1", cannot + "examples, “__proto__”.", 2},
		{"escapes that are none", `key=\q&key=\x8&ask=\u{1}`, cannot + `2 keys; ask, “\\u{1}”.`, 0},
		{"percent signs that are no escapes", "n=%&key=%zz&key=%ff&%=%", cannot + "n, “%”.", 2},
		{"too long a key", "key=" + strings.Repeat("x", 65) + "&ask=" + strings.Repeat("y", 1000), cannot + "1 key; ask, “yyyyyyyyyyyyyyyyyyyy…”.", 0},
		{"too many keys", stateOf("n=10&bits=1", users(3700)), cannot + "500 keys.", 3200},
		{"too long a link", "key=" + strings.Repeat("z", 1_300_001), "⚠ The link is longer than 1,300,000 characters and was ignored.", 0},
		{"the same key twice", "key=a&key=a", "", 1},
		{"nonsense", "=&&&==&#?key", "", 0},
	} {
		page.Follow(tt.link)
		if got := page.Text("#link-problem"); got != tt.problem {
			t.Errorf("%s: the page says %q, want %q", tt.name, got, tt.problem)
		}
		if got := pagetest.Evaluate[int](page, `document.getElementById("keys").children.length`); got != tt.keys {
			t.Errorf("%s: %d keys, want %d", tt.name, got, tt.keys)
		}
		if pagetest.Evaluate[bool](page, `"fooled" in window || document.images.length > 0 || document.scripts.length !== 1`) {
			t.Errorf("%s: the link became elements of the page", tt.name)
		}
		if n := len(filterOf(page)); n > 8001 {
			t.Errorf("%s: the filter has %d bytes", tt.name, n)
		}
		page.Submit("#key", "still alive")
		if got := page.Text("#answer"); !strings.Contains(got, "still alive") {
			t.Errorf("%s: the page answers %q", tt.name, got)
		}
		page.CheckWidth(tt.name)
	}
}

// An opened URL takes effect, even if the page writes its previous state to the URL at the same time.
func TestLinkWhileStateIsWritten(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "")
	n := pagetest.Evaluate[string](page, `new Promise((done) => {
		addEventListener("hashchange", () => done(document.getElementById("n").value));
		location.hash = "n=33&rate=1";
		history.replaceState(null, "", "#n=44&rate=1");
	})`)
	if n != "33" {
		t.Errorf("n = %s, want 33", n)
	}
}

// A page that is opened without a state has a few keys, and no state in its URL until something changes.
func TestFirstState(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "")
	if got := page.Text("#added"); got != "The filter has 10 keys." {
		t.Errorf("the page says %q", got)
	}
	page.Do(chromedp.Click(chromedp.CSS("#clear")))
	if got := page.Link(`includes("rate")`); got != "n=20&rate=1%25" {
		t.Errorf("the state is %q", got)
	}
}
