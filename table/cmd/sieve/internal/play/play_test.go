package play

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

var noError = errtest.NoError

func TestMain(m *testing.M) { pagetest.Main(m) }

// openPlay opens the page with a state in its URL's fragment.
func openPlay(t *testing.T, width int64, state string) *pagetest.Tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "play.html")
	f, err := os.Create(path)
	noError(t, err)
	defer f.Close()
	noError(t, Write(f))
	page := pagetest.Open(t, path, width)
	if state != "" {
		page.Follow(state)
	}
	return page
}

// addAll adds keys through the form.
const addAll = `(texts) => texts.forEach((text) => {
	document.getElementById("new-key").value = text;
	document.getElementById("add").requestSubmit();
})`

// lookUpAll looks keys up through the form, and returns the answers.
const lookUpAll = `(texts) => texts.map((text) => {
	document.getElementById("key").value = text;
	document.getElementById("ask").requestSubmit();
	return document.querySelector("#answer").textContent;
})`

// add adds keys to the filter of the page.
func add(page *pagetest.Tab, keys [][]byte) {
	page.Helper()
	pagetest.Call[chromedp.Void](page, addAll, escapedAll(keys))
}

func escapedAll(keys [][]byte) []string {
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = printable.Escape(key)
	}
	return all
}

// stateOf returns a state with these keys.
func stateOf(settings string, keys [][]byte) string {
	var b strings.Builder
	b.WriteString(settings)
	for _, key := range keys {
		b.WriteString("&key=" + url.QueryEscape(printable.Escape(key)))
	}
	return b.String()
}

// generate returns the library's filter.
func generate(bitsPerKey int, keys [][]byte) filter.Bytes {
	return filtertest.Build(filter.NewBloom(bitsPerKey), keys...)
}
