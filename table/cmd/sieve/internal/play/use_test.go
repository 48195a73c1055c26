package play

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// press presses a key of the keyboard several times.
func press(page *pagetest.Tab, key string, times int) {
	page.Helper()
	for range times {
		page.Do(chromedp.KeyEvent(key))
	}
}

// The list of keys is one tab stop, arrows choose in it, and the chosen key is announced.
func TestKeyboardInList(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "n=20&bits=10&key=ada&key=grace&key=barbara")
	page.Do(chromedp.Focus(chromedp.CSS("#clear")))
	for _, tt := range []struct{ key, want string }{
		{kb.Tab, "ada"}, {kb.ArrowRight, "grace"}, {kb.ArrowDown, "barbara"}, {kb.ArrowDown, "barbara"},
		{kb.ArrowLeft, "grace"}, {kb.Home, "ada"}, {kb.ArrowUp, "ada"}, {kb.End, "barbara"},
	} {
		press(page, tt.key, 1)
		got := pagetest.Evaluate[string](page, `document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent`)
		if got != tt.want || !strings.HasPrefix(page.Text("#key-info"), "Key “"+tt.want+"” bits ") {
			t.Errorf("%q comes to %s, want %s; the page tells %q", tt.key, got, tt.want, page.Text("#key-info"))
		}
	}
	page.Do(chromedp.Focus(chromedp.CSS("#bits-picture")))
	press(page, kb.End, 1)
	press(page, kb.ArrowLeft, 2)
	if got := page.Text("#bit-info h3"); !strings.HasPrefix(got, "Bit 197 of 200: ") {
		t.Errorf("in the picture, End and two arrow keys come to %q", got)
	}
}

// The page responds to typed input, valid or not.
func TestTyping(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "n=1&bits=10&key=ada")
	for _, tt := range []struct{ box, text, said, want string }{
		{"#new-key", "ada", "#added", "“ada” was added before. The filter has 1 key."},
		{"#new-key", "grace", "#added", "Added “grace”. The filter has 2 keys. ⚠ That exceeds the 1 it is sized for: expect 0.4203 % false positives, not 0.2037 %."},
		{"#new-key", `\q`, "#added", `no such escape: \q (a backslash is \\)`},
		{"#new-key", strings.Repeat("é", 33), "#added", "The key has 66 bytes. The limit is 64."},
		{"#key", "ada", "#answer", "◆ May be present “ada” All 6 probes found a set bit. The key was added."},
		{"#key", `\xg0`, "#ask-problem", `no such escape: \xg0 (a backslash is \\)`},
		{"#n", "1601", "#sizing-problem", "The number of keys must be a whole number from 1 to 1600. The filter still uses 160."},
		{"#n", "2", "#sizing-facts", "bits, m 64 = 8 bytes bits per key 10 bits that each key sets, k 6 LevelDB's minimum 64 bits"},
		{"#k", "2", "#sizing-facts", "bits, m 64 = 8 bytes bits per key 10 bits that each key sets, k 2 LevelDB's k 6 LevelDB's minimum 64 bits"},
		{"#bits", "20", "#sizing-facts", "bits, m 64 = 8 bytes bits per key 20 bits that each key sets, k 13 LevelDB's minimum 64 bits"},
	} {
		page.Submit(tt.box, tt.text)
		if got := page.Text(tt.said); got != tt.want {
			t.Errorf("after %s in %s the page says %q, want %q", tt.text, tt.box, got, tt.want)
		}
	}
	if got := pagetest.Evaluate[[]string](page, `[...document.querySelectorAll("input, select")].filter((it) => it.labels.length === 0).map((it) => it.id)`); len(got) > 0 {
		t.Errorf("controls without a label: %q", got)
	}
}

// On a phone nothing is too wide, however many bits and keys there are, and however long the keys.
func TestPhone(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 390, "")
	long := [][]byte{[]byte(strings.Repeat("W", 64)), []byte(strings.Repeat("\xff", 64))}
	for _, state := range []string{"", stateOf("n=1&rate=50", long), stateOf("n=1600&bits=40", users(3200)), stateOf("n=8&bits=1&k=30", append(long, users(20)...))} {
		if state != "" {
			page.Follow(state)
		}
		pagetest.Evaluate[any](page, `document.getElementById("find").click()`)
		page.CheckWidth("false positive: " + state[:min(30, len(state))])
		pagetest.Call[any](page, `(key) => { document.getElementById("key").value = key; document.getElementById("ask").requestSubmit(); }`, strings.Repeat("W", 64))
		pagetest.Evaluate[any](page, `document.querySelector("#keys li")?.click(); document.querySelector("details").open = true`)
		page.CheckWidth("chosen key: " + state[:min(30, len(state))])
	}
}

// unreadable lists texts whose contrast with their background is below 4.5 to 1.
const unreadable = `(() => {` + pagetest.Contrast + `
	const texts = [...document.body.querySelectorAll("*")].filter((it) => it.checkVisibility() && [...it.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
	return texts.filter((it) => contrast(getComputedStyle(it).color, it) < 4.5).map((it) => it.textContent);
})()`

// All texts are readable in the light and the dark scheme.
func TestContrast(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "n=20&bits=10&key=ada&ask=grace")
	pagetest.Evaluate[any](page, `document.querySelector("#keys li").click()`)
	grounds := map[string]bool{}
	for _, dark := range []bool{false, true} {
		if dark {
			page.Dark()
		}
		grounds[pagetest.Evaluate[string](page, "getComputedStyle(document.body).backgroundColor")] = true
		if got := pagetest.Evaluate[[]string](page, unreadable); len(got) > 0 {
			t.Errorf("dark: %v: too little contrast: %q", dark, got)
		}
	}
	if len(grounds) != 2 {
		t.Error("the dark scheme is the light one")
	}
}
