package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

var lookupControls = []pagetest.Control{
	{Element: "#key", Name: "textbox Key", Keys: "key000500" + kb.Enter, Shows: "#answer", Text: "✓ Found “key000500”", Draws: "#map"},
	{Element: "#key", Name: "textbox Key", Keys: strings.Repeat(kb.Backspace, 9) + "key004000", Shows: "#key", Text: "key004000"},
	{Element: "#ask button[type=submit]", Name: "button Look up", Keys: " ", Shows: "#answer", Text: "✓ Found “key004000”", Draws: "#map"},
	{Element: ".sample", Name: "button key000000", Keys: kb.Enter, Shows: "#answer", Text: "✓ Found “key000000”", Draws: "#map"},
}

var mapControls = []pagetest.Control{
	{Element: "input[name=by]", Name: "radio part", Keys: kb.ArrowRight, Shows: "#parts", Text: "bytes of the file by compression", Draws: "#map"},
	{Element: "input[name=by]", Name: "radio compression", Keys: kb.ArrowRight, Shows: "#parts", Text: "bytes of the file by compression ratio", Draws: "#map"},
	{Element: "input[name=by]", Name: "radio compression ratio", Keys: kb.ArrowRight, Shows: "#parts", Text: "bytes of the file by number of entries", Draws: "#map"},
	{Element: "input[name=by]", Name: "radio entries", Keys: kb.ArrowRight, Shows: "#parts", Text: "bytes of the file by filter load", Draws: "#map"},
	{Element: "input[name=by]", Name: "radio filter load", Keys: kb.ArrowRight, Shows: "#parts", Text: "bytes of the file by part", Draws: "#map"},
	{Element: "#prefix", Name: "textbox with prefix", Keys: "key0010", Shows: "#marked", Text: "2 of 47 data blocks", Draws: "#map"},
	{Element: "#from", Name: "textbox from, ≥", Keys: "key001", Shows: "#marked", Text: "38 of 47 data blocks", Draws: "#map"},
	{Element: "#to", Name: "textbox to, <", Keys: "key002", Shows: "#marked", Text: "10 of 47 data blocks", Draws: "#map"},
	{Element: "#block", Name: "spinbutton Data block", Keys: kb.Backspace + kb.Backspace + "17" + kb.Enter, Shows: "#map-info", Text: "data block 17 of 47", Draws: "#map"},
	{Element: "#map", Name: "slider Blocks of the file, in its order", Keys: kb.End, Shows: "#map-info", Text: "footer at", Draws: "#map"},
	{Element: "#map", Name: "slider Blocks of the file, in its order", Keys: kb.Home + kb.ArrowRight + kb.ArrowRight, Shows: "#map-info", Text: "data block 3 of", Draws: "#map"},
	{Element: "#map", Name: "slider Blocks of the file, in its order", Keys: kb.PageDown + kb.ArrowLeft, Shows: "#map-info", Text: "data block 5 of 47", Draws: "#map"},
	{Element: "#parts .scroll", Name: "region Parts of the file"},
}

const (
	lines  = "#filters canvas[aria-label^=Lines]"
	blocks = "#filters canvas[aria-label^=Block]"
	info   = "#filters .picture:has(canvas[aria-label^=Block]) ~ .info"
)

var filterControls = []pagetest.Control{
	{Element: lines, Name: "slider Lines of the table filter: share of bits set", Keys: kb.End, Shows: "#filters .info", Text: "line 98", Draws: lines},
	{Element: blocks, Name: "slider Block filters: share of bits set", Keys: kb.End, Shows: info, Text: "filter 17", Draws: blocks},
	{Element: "#filters [aria-label^=Worst]", Name: "region Worst predicted rate"},
	{Element: "#filters [aria-label^=Worst] .link", Name: "button show filter 4", Keys: kb.Enter, Shows: info, Text: "filter 4 ", Draws: blocks},
	{Element: "#filters [aria-label^=Fullest]", Name: "region Fullest"},
	{Element: "#filters [aria-label^=Fullest] .link", Name: "button show filter 11", Keys: " ", Shows: info, Text: "filter 11 ", Draws: blocks},
}

// sizeControls open the tables of the histograms.
func sizeControls() (all []pagetest.Control) {
	for i, c := range []struct{ title, head string }{
		{"Block sizes", "bytes blocks, as stored blocks, decompressed"}, {"Entries in a block", "entries blocks"}, {"Lengths of keys and values", "bytes entries"},
	} {
		card := fmt.Sprintf("#sizes .histogram:has(svg):nth-child(%d of :has(svg)) ", i+1)
		all = append(all, pagetest.Control{Element: card + "summary", Name: "DisclosureTriangle As a table: " + c.title, Keys: kb.Enter, Shows: card + "details", Text: c.head})
	}
	return all
}

// fuseControls are the controls of a lookup that a binary fuse filter ends.
var fuseControls = []pagetest.Control{
	{Element: "#key", Name: "textbox Key", Keys: "key000500" + kb.Enter, Shows: "#answer", Text: "◆ May be present “key000500”"},
	{Element: "#ask button[type=submit]", Name: "button Look up"},
	{Element: ".fingerprints .scroll", Name: "region Fingerprints"},
	{Element: "input[name=by]", Name: "radio part", Keys: kb.ArrowLeft, Shows: "#parts", Text: "bytes of the file by compression", Draws: "#map"},
	{Element: "#map", Name: "slider Blocks of the file, in its order", Keys: kb.End, Shows: "#map-info", Text: "footer at", Draws: "#map"},
	{Element: "#parts .scroll", Name: "region Parts of the file"},
}

// Every control of the page works with the keyboard alone, on a phone and in a wide window, and the page shows its
// effect.
func TestControls(t *testing.T) {
	t.Parallel()
	bloom := table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Properties: true}
	fuse := table.WriterOptions{TableFilterPolicy: fusePolicy(t, 8), FilterOnly: true}
	tables := openTable(t, writeTable(t, "t.ldb", bloom, plainPairs(5000)))
	for _, tt := range []struct {
		name     string
		page     string
		controls []pagetest.Control
	}{
		{"Bloom filters", writePage(t, tables, Options{Embed: 1 << 20}), slices.Concat(lookupControls, mapControls, filterControls, sizeControls())},
		{"filters left out", writeSmall(t, tables, 5000), slices.Concat(lookupControls, withoutLoad(mapControls), sizeControls())},
		{"a fuse filter only", writePage(t, openTable(t, writeTable(t, "t.ldb", fuse, withoutValues(plainPairs(900)))), Options{}), fuseControls},
	} {
		for _, width := range pagetest.Widths {
			t.Run(fmt.Sprint(tt.name, ", ", width), func(t *testing.T) {
				t.Parallel()
				pagetest.Open(t, tt.page, width).Operate(tt.controls)
			})
		}
	}
}

// withoutLoad returns the controls of a map that cannot be colored by filter load.
func withoutLoad(controls []pagetest.Control) []pagetest.Control {
	i := slices.IndexFunc(controls, func(c pagetest.Control) bool { return c.Name == "radio entries" })
	all := slices.Delete(slices.Clone(controls), i, i+1)
	all[i].Name = "radio entries"
	return all
}
