package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/set"
)

// hugeSet is of a set that is said to have very many tables, half of them in a layer.
func hugeSet(tables int) *summary.SetSummary {
	s := &summary.SetSummary{Manifest: "urls/set.jsonl", Tables: tables, Layers: 1}
	for i := range tables {
		name := fmt.Sprintf("%06d%s.ldb", i, strings.Repeat("<i>", 70))
		line := &set.Table{Name: name, Size: 1 << 20, Entries: 1000, Smallest: hostileKey(2 * i), Largest: hostileKey(2*i + 1)}
		s.Files = append(s.Files, summary.SetTable{Table: line, Layer: 1 - 2*i/tables, Removals: i < tables/4, Problem: "does not exist"})
		s.Damage = append(s.Damage, name+" is not there")
	}
	return s
}

// However many tables a manifest lists, the page stays small, and says how many it leaves out.
func TestSetPageIsBounded(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	if err := NewSet(hugeSet(20_000), "urls", nil, 0).Write(&page); err != nil {
		t.Fatal(err)
	}
	if n := page.Len(); n > 4<<20 {
		t.Errorf("the page has %d bytes, want at most 4 MiB", n)
	}
	for text, want := range map[string]int{"and 19,500 more, not shown": 1, "and 19,900 more, not shown": 1, "5,000 tables of removals: listed": 1} {
		if n := strings.Count(page.String(), text); n != want {
			t.Errorf("%q is there %d times, want %d", text, n, want)
		}
	}
}

// The page fits phones, needs no mouse, lets its style in, and has what comes from the set as text.
func TestSetPage(t *testing.T) {
	t.Parallel()
	const script = `</title></style><script>window.fooled=1</script><img src=x onerror=fooled=1>`
	s := hugeSet(20)
	s.Damage, s.Notes, s.Manifest = []string{script}, []string{script}, filepath.Join(strings.Repeat("directory", 20)+script, "set.jsonl")
	path := save(t, NewSet(s, script, nil, 0).Write)
	for _, width := range pagetest.Widths {
		page := pagetest.Open(t, path, width)
		page.CheckWidth("a set")
		if broken := pagetest.Evaluate[int](page, `[...document.querySelectorAll(".ext")].filter((e) => e.getClientRects().length !== 1).length`); broken > 0 {
			t.Errorf("%d pixels: %d file names have a line break in their extension", width, broken)
		}
		page.Operate([]pagetest.Control{{Element: ".scroll[aria-labelledby=tables-title]", Name: "region Tables"}})
		if got := page.Text("h1"); got != script {
			t.Errorf("the heading is %q, want %q", got, script)
		}
		if pagetest.Evaluate[bool](page, `"fooled" in window || document.images.length > 0 || document.scripts.length > 0`) {
			t.Error("the set's text became elements of the page")
		}
		if got := pagetest.Evaluate[string](page, `getComputedStyle(document.querySelector(".levels > li")).display`); got != "grid" {
			t.Errorf("rows of the picture are displayed as %q, want grid", got)
		}
	}
}
