package report

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

func TestMain(m *testing.M) { pagetest.Main(m) }

// A user types a key and sees the steps of its lookup.
func TestPageTyping(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression}
	page := openPage(t, o, plainPairs(1000), Options{Embed: 1 << 20}, 1000)
	for _, tt := range []struct {
		key    string
		answer string
		way    []string
	}{
		{"key000500", "✓ Found “key000500” It has a value of 33 bytes, “value of 500, and some more of i…”.",
			[]string{"Index → one data block entry 5 of", "Block filter ◆ may contain filter number", "and there is one filter per 2,048 bytes", "k 6 hash 0x", "✓ set", "Data block ✓ found at"}},
		{"key00050", "✗ Absent “key00050” The block filter rules the key out. The data block is not read.",
			[]string{"Block filter ✗ certainly absent", "✗ not set"}},
		{"zzz", "✗ Absent “zzz” The key is > all separators in the index.", []string{"Index ✗ key > all separators"}},
		{`a\tb\x00\\`, `✗ Absent “a\tb\x00\\” The block filter rules the key out. The data block is not read.`, nil},
		{`a\q`, `no such escape: \q (a backslash is \\)`, nil},
	} {
		page.Submit("#key", tt.key)
		checkText(t, page, "#answer", tt.answer)
		for _, part := range tt.way {
			checkContains(t, page, "#way", part)
		}
	}
}

// The page accepts and shows bytes with the same escapes as sst.
func TestPageEscapes(t *testing.T) {
	t.Parallel()
	page := openPage(t, table.WriterOptions{}, nil, Options{}, 1000)
	keys := []string{"", "é", "\u2028", "\u202e", "\u00a0", "\ufeff", "\U0001f600", "\U000e0001", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\xe2\x82", `"'\`, "\a\b\f\n\r\t\v\x1b\x7f", "<b>&amp;"}
	for _, p := range bytePairs(500) {
		keys = append(keys, string(p.Key))
	}
	escaped := escapedAll(keys)
	got := pagetest.Call[[]string](page, `(texts) => texts.map((text) => {
		document.getElementById("key").value = text;
		document.getElementById("ask").requestSubmit();
		return document.querySelector("#answer .verdict").textContent;
	})`, escaped)
	for i, key := range keys {
		if want := "✗ Absent “" + shortened(escaped[i]) + "”"; got[i] != want {
			t.Errorf("for %q the page shows %q, want %q", key, got[i], want)
		}
	}
}

// shortened is a long text as the page shortens it.
func shortened(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return s
}

// All data from the file is shown as text.
func TestPageIsNotFooled(t *testing.T) {
	scripttest.OnUnix(t)
	t.Parallel()
	const script, image = `</script><script>window.fooled=1</script>`, `<img src=x onerror=window.fooled=1>`
	pairs := []workload.Pair{
		{Key: []byte(script), Value: []byte(image)}, {Key: []byte(image), Value: []byte(script + "<!--")}, {Key: []byte("\u2028`${fooled=1}"), Value: nil},
	}
	o := table.WriterOptions{
		BlockSize: 1, FilterPolicy: filter.Rename(filter.NewBloom(10), "</script>"+image), TableFilterPolicy: filter.NewTableBloom(10),
	}
	f := openTable(t, writeTable(t, `<img src=x onerror=fooled=1>&amp;.ldb`, o, pairs))
	page := pagetest.Open(t, writePage(t, f, Options{Embed: 1 << 20, Source: script}), 1000)
	checkText(t, page, "h1", "<img src=x onerror=fooled=1>&amp;.ldb")
	page.Submit("#key", script)
	checkStarts(t, page, "#answer", "✓ Found “"+script+"”")
	page.Submit("#key", image)
	checkText(t, page, "#answer .verdict", "✓ Found “"+image+"”")
	if pagetest.Evaluate[bool](page, `"fooled" in window || document.images.length > 0 || document.scripts.length !== 2`) {
		t.Error("the file's text became elements of the page")
	}
}

// The page fits a phone, however long names and keys are, and the name of the order.
func TestPageOnPhone(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: fusePolicy(t, 16), Properties: true}
	long := workload.Pair{Key: []byte("a" + strings.Repeat("x", 150)), Value: []byte(strings.Repeat("y", 500))}
	f := openTable(t, writeTable(t, strings.Repeat("long", 30)+".ldb", o, append([]workload.Pair{long}, plainPairs(5000)...)))
	page := pagetest.Open(t, writePage(t, f, Options{Embed: 1 << 20}), 360)
	for _, key := range []string{"key000001", string(long.Key), "nothing"} {
		page.Submit("#key", key)
		page.CheckWidth("after " + key)
	}
	f.OrderNote = "keys are in the order of leveldb.ReverseBytewiseComparator"
	pagetest.Open(t, writePage(t, f, Options{}), 360).CheckWidth("in another order")
}
