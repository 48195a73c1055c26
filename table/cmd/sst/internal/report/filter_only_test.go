package report

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// The page of a filter-only table says so, and its lookups return "may be present" or "absent". If the properties
// are damaged, the page does not know that the table is filter-only, and lookups that pass the filter need the
// properties.
func TestPageFilterOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		policy  filter.TablePolicy
		keys    int
		damaged bool
		summary string // how it ends
		answer  string // how it begins if the table is damaged
	}{
		{"binary fuse filter", fusePolicy(t, 8), 3000, false, "entries none, a filter only keys in the filter 3,000",
			"◆ May be present “key000200” The table filter may contain the key. There are no entries to check."},
		{"Bloom filter", filter.NewTableBloom(10), 3000, false, "entries none, a filter only keys in the filter 3,000",
			"◆ May be present “key000200” The table filter may contain the key. There are no entries to check."},
		{"no keys", fusePolicy(t, 4), 0, false, "", "✗ Absent “key000200” The table is empty."},
		{"damaged", fusePolicy(t, 4), 300, true, "", "⚠ Damaged “key000200” The lookup needs a damaged block: table: properties block at"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pairs := withoutValues(plainPairs(tt.keys))
			path := writeTable(t, "t.ldb", table.WriterOptions{TableFilterPolicy: tt.policy, FilterOnly: true}, pairs)
			check := checkText
			if tt.damaged {
				damageProperties(t, path)
				check = checkStarts
			}
			f := openTable(t, path)
			page := pagetest.Open(t, writePage(t, f, Options{}), 1000)
			if got := page.Text("#summary"); !strings.HasSuffix(got, tt.summary) {
				t.Errorf("the summary is %q, want %q at its end", got, tt.summary)
			}
			page.Submit("#key", "key000200")
			check(t, page, "#answer", tt.answer)
			compareLookups(t, page, f, pairs)
		})
	}
}

// withoutValues returns the pairs with empty values.
func withoutValues(pairs []workload.Pair) []workload.Pair {
	for i := range pairs {
		pairs[i].Value = nil
	}
	return pairs
}

// damageProperties damages the properties block of a table.
func damageProperties(t *testing.T, path string) {
	t.Helper()
	meta, err := openTable(t, path).Layout.Meta()
	noError(t, err)
	for _, part := range meta {
		if part.Name == format.PropertiesName {
			flipAt(t, path, int64(part.Offset))
		}
	}
}
