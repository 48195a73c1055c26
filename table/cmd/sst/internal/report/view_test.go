package report

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// linkWith waits until the address ends with the text, and returns the part after #.
func linkWith(page *pagetest.Tab, end string) string {
	page.Helper()
	return page.Link(fmt.Sprintf("endsWith(%q)", end))
}

// viewOf returns the state of a page's view.
func viewOf(page *pagetest.Tab) map[string]string {
	page.Helper()
	all := map[string]string{"map": pagetest.Evaluate[string](page, `document.querySelector("input[name=by]:checked").value`)}
	for _, id := range []string{"key", "prefix", "from", "to"} {
		all[id] = pagetest.Call[string](page, "(id) => document.getElementById(id).value", id)
	}
	for _, id := range []string{"answer", "way", "marked", "map-info", "parts"} {
		all[id] = page.Text("#" + id)
	}
	return all
}

// At first the page shows the lookup of a present key.
func TestPageShowsFirstKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, key, answer string
		keys              int
		embed             uint64
	}{
		{"the middle of all entries", "key000599", "✓ Found “key000599”", 1000, 1 << 20},
		{"no entries in the page", "key000000", "? Not in the page “key000000”", 1000, 0},
		{"no keys", "", "", 0, 1 << 20},
	} {
		page := openPage(t, table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, plainPairs(tt.keys), Options{Embed: tt.embed}, 1000)
		if got := pagetest.Evaluate[string](page, `document.getElementById("key").value`); got != tt.key {
			t.Errorf("%s: the key is %q, want %q", tt.name, got, tt.key)
		}
		if got := page.Text("#answer"); !strings.HasPrefix(got, tt.answer) || tt.answer == "" && got != "" {
			t.Errorf("%s: the answer is %q, want %q", tt.name, got, tt.answer)
		}
		if got := pagetest.Evaluate[string](page, "location.hash + document.activeElement.id"); got != "" {
			t.Errorf("%s: address and focus are %q, want none", tt.name, got)
		}
		if got := pagetest.Evaluate[bool](page, `document.getElementById("prefix").checkVisibility()`); got != (tt.keys > 0) {
			t.Errorf("%s: the boxes for keys to mark are shown: %v", tt.name, got)
		}
	}
}

// Colors and marked keys can be chosen with the keyboard alone, on a phone and in a wide window. The address
// records them and the key, and restores them.
func TestPageKeepsView(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Properties: true}
	page := openPage(t, o, plainPairs(5000), Options{Embed: 1 << 20}, 390)
	const key = "a key & more=100%"
	for _, width := range pagetest.Widths {
		page.Do(chromedp.EmulateViewport(width, 800), chromedp.Navigate(page.URL))
		page.TabTo("#key")
		page.Do(chromedp.KeyEvent(key + kb.Enter))
		chooseColors(page, "key="+url.QueryEscape(key)+"&")
		page.TabTo("#prefix")
		page.Do(chromedp.KeyEvent("key0010"))
		linkWith(page, "prefix=key0010")
		page.TabTo("#from")
		page.Do(chromedp.KeyEvent("key001"))
		page.TabTo("#to")
		page.Do(chromedp.KeyEvent(`key002/\x00?`))
		link := linkWith(page, "&map=load&from=key001&to=key002/%5Cx00?")
		want := viewOf(page)
		if want["prefix"] != "" || want["map"] != "load" || !strings.Contains(want["marked"], "contain such keys") {
			t.Errorf("%d pixels: the view is %q", width, want)
		}
		page.CheckWidth("with a view")
		page.Do(chromedp.Reload())
		want["map-info"] = viewOf(page)["map-info"] // the chosen block is not recorded
		if diff := cmp.Diff(want, viewOf(page)); diff != "" {
			t.Errorf("%d pixels, %s (-view +opened again):\n%s", width, link, diff)
		}
	}
}

// chooseColors chooses each coloring in turn. The link then contains the previous parts and the coloring.
func chooseColors(page *pagetest.Tab, before string) {
	page.Helper()
	page.TabTo("input[name=by]")
	for _, tt := range []struct{ by, legend string }{
		{"compression", "bytes of the file by compression"}, {"ratio", "bytes of the file by compression ratio"},
		{"entries", "bytes of the file by number of entries"}, {"load", "bytes of the file by filter load Filter load Blocks Stored"},
	} {
		page.Do(chromedp.KeyEvent(kb.ArrowRight))
		if got := linkWith(page, "map="+tt.by); got != before+"map="+tt.by {
			page.Errorf("the address is %q, want the key and the colors", got)
		}
		if got := page.Text("#parts"); !strings.Contains(got, tt.legend) {
			page.Errorf("the legend for %s is %q, want %q in it", tt.by, got, tt.legend)
		}
		page.CheckWidth(tt.by)
	}
}

// Whatever a link contains, the page shows as much of it as it can, and never as HTML.
func TestHostileLinks(t *testing.T) {
	t.Parallel()
	const image = `<img src=x onerror=window.fooled=1>`
	const bothMarks = "The link has both a prefix and a range. Only the prefix is used."
	page := openPage(t, table.WriterOptions{}, plainPairs(500), Options{Embed: 1 << 20}, 390)
	first := page.Text("#answer")
	for _, tt := range []struct{ name, link, problem, answer string }{
		{"HTML as a key", "key=" + url.QueryEscape(image), "", "✗ Absent “" + image + "”"},
		{"HTML as it is", "key=" + image + "&prefix=" + image + "&from=" + image, bothMarks, "✗ Absent “" + image + "”"},
		{"the empty key", "key=", "", "✗ Absent “”"},
		{"escapes that are none", `key=\q&from=\q&to=\x1`, "", `no such escape: \q`},
		{"colors that there are not", "map=" + image, "The link names colors that this map lacks.", first},
		{"colors of filters", "map=load", "The link names colors that this map lacks.", first},
		{"names of properties", "map=__proto__&__proto__=1&constructor=1", "The link names colors that this map lacks.", first},
		{"a prefix beside a range", "prefix=key&from=a&to=b", bothMarks, first},
		{"line breaks", "key=a%0Ab%0D%5C%5C%0A", "", `✗ Absent “a\nb\r\\\n”`},
		{"a line break behind a backslash", "key=a%5C%0An", "", `no such escape: \ n`},
		{"percent signs that are no escapes", "key=%zz&to=%ff&%=%", "", "✗ Absent “%zz”"},
		{"a key that is very long", "key=" + strings.Repeat("z", 90_000), "", "✗ Absent “zzz"},
		{"too long a link", "key=" + strings.Repeat("z", 110_000), "The link is longer than 100,000 characters and was ignored.", first},
		{"nonsense", "=&&&==&#?key", "", first},
		{"script", "javascript:fooled=1", "", first},
	} {
		page.Follow(tt.link)
		if got := page.Text("#link-problem"); got != tt.problem {
			t.Errorf("%s: the page says %q, want %q", tt.name, got, tt.problem)
		}
		if got := page.Text("#answer"); !strings.HasPrefix(got, tt.answer) {
			t.Errorf("%s: the answer is %.100q, want %q", tt.name, got, tt.answer)
		}
		if pagetest.Evaluate[bool](page, `"fooled" in window || document.images.length > 0 || document.scripts.length !== 2`) {
			t.Errorf("%s: the link became elements of the page", tt.name)
		}
		page.CheckWidth(tt.name)
	}
}

// A link that is opened takes effect, even if the page writes the previous view to the address at the same time.
func TestLinkWhileViewIsWritten(t *testing.T) {
	t.Parallel()
	page := openPage(t, table.WriterOptions{}, plainPairs(500), Options{Embed: 1 << 20}, 1000)
	for i := range 3 {
		key := pagetest.Call[string](page, `(key) => new Promise((done) => {
			addEventListener("hashchange", () => done(document.getElementById("key").value), { once: true });
			location.hash = "key=" + key;
			history.replaceState(null, "", "#key=other");
		})`, fmt.Sprint("key", i))
		if want := fmt.Sprint("key", i); key != want {
			t.Errorf("the key is %q, want %q", key, want)
		}
	}
}

// The page accepts all links that it makes, also if a key is too long for one.
func TestLinkOfLongKeys(t *testing.T) {
	t.Parallel()
	page := openPage(t, table.WriterOptions{}, plainPairs(500), Options{Embed: 1 << 20}, 390)
	const tooLong = "The keys are too long for a link of 100,000 characters, and are not in the address of this page."
	page.TabTo("input[name=by]")
	page.Do(chromedp.KeyEvent(kb.ArrowRight))
	for _, tt := range []struct {
		key     string
		end     string // of the link
		problem string
	}{
		{strings.Repeat("z", 90_000), "zz&map=compression", ""},
		{strings.Repeat("%", 34_000), "#map=compression", tooLong}, // three characters each
		{"key000001", "key000001&map=compression", ""},
	} {
		pagetest.Call[chromedp.Void](page, `(key) => {
			document.getElementById("key").value = key;
			document.getElementById("ask").requestSubmit();
		}`, tt.key)
		linkWith(page, tt.end)
		if got := page.Text("#link-problem"); got != tt.problem {
			t.Errorf("with a key of %d bytes the page says %q, want %q", len(tt.key), got, tt.problem)
		}
		page.Do(chromedp.Reload())
		if got := page.Text("#link-problem"); got != "" {
			t.Errorf("with a key of %d bytes the page refuses its link: %q", len(tt.key), got)
		}
		page.CheckWidth("a long key")
	}
}
