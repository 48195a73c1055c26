package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// A table with a filter only says so, and answers "may be present" or "absent".
func TestPageFilterOnly(t *testing.T) {
	t.Parallel()
	pairs := withoutValues(plainPairs(3000))
	for _, policy := range []filter.TablePolicy{fusePolicy(t, 8), filter.NewTableBloom(10)} {
		t.Run(policy.Name(), func(t *testing.T) {
			t.Parallel()
			o := table.WriterOptions{TableFilterPolicy: policy, FilterOnly: true}
			f := openTable(t, writeTable(t, "t.ldb", o, pairs))
			page := pagetest.Open(t, writePage(t, f, Options{}), 1000)
			if got, want := page.Text("#summary"), "entries none, a filter only keys in the filter 3,000"; !strings.HasSuffix(got, want) {
				t.Errorf("the summary is %q, want %q at its end", got, want)
			}
			page.Submit("#key", "key000500")
			want := "◆ May be present “key000500” The table filter may contain the key. There are no entries to check."
			if diff := cmp.Diff(want, page.Text("#answer")); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
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

// If the properties are damaged, it is not known that there is a filter only: lookups that the
// filter does not end need them.
func TestPageFilterOnlyDamaged(t *testing.T) {
	t.Parallel()
	pairs := withoutValues(plainPairs(300))
	path := writeTable(t, "t.ldb", table.WriterOptions{TableFilterPolicy: fusePolicy(t, 4), FilterOnly: true}, pairs)
	damageProperties(t, path)
	f := openTable(t, path)
	page := pagetest.Open(t, writePage(t, f, Options{}), 1000)
	page.Submit("#key", "key000200")
	checkStarts(t, page, "#answer", "⚠ Damaged “key000200” The lookup needs a damaged block: table: properties block at")
	compareLookups(t, page, f, pairs)
}

// A table with a filter only and no keys is an empty one.
func TestPageFilterOnlyEmpty(t *testing.T) {
	t.Parallel()
	f := openTable(t, writeTable(t, "t.ldb", table.WriterOptions{TableFilterPolicy: fusePolicy(t, 4), FilterOnly: true}, nil))
	page := pagetest.Open(t, writePage(t, f, Options{}), 1000)
	page.Submit("#key", "key000200")
	checkText(t, page, "#answer", "✗ Absent “key000200” The table is empty.")
	compareLookups(t, page, f, nil)
}

// damageProperties damages the properties block of a table.
func damageProperties(t *testing.T, path string) {
	t.Helper()
	meta, err := openTable(t, path).Layout.Meta()
	noError(t, err)
	for _, part := range meta {
		if part.Name == format.PropertiesName {
			damageByte(t, path, int(part.Offset))
		}
	}
}
