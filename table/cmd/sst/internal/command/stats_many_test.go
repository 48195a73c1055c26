package command

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What stats measures of many small tables is in proportion to them.
func TestStatsOfManySmallTables(t *testing.T) {
	const tables, keys = 20, 50
	dir := t.TempDir()
	for i := range tables {
		var lines strings.Builder
		for k := range keys {
			fmt.Fprintf(&lines, "key%02d-%04d\tvalue\n", i, k)
		}
		in := filepath.Join(t.TempDir(), "in")
		writeFile(t, in, lines.String())
		mustSST(t, "build", "-o", filepath.Join(dir, fmt.Sprintf("%02d.ldb", i)), in)
	}
	lookups, filters := 0, 0
	for d := json.NewDecoder(strings.NewReader(mustSST(t, "stats", "--tables", "--json", dir))); d.More(); filters++ {
		var s struct {
			Filters []struct {
				Questions int
				Measured  float64 `json:"measured_rate"`
			}
		}
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Filters {
			lookups += f.Questions
			if f.Measured <= 0 || f.Measured > 0.05 {
				t.Errorf("measured rate %g of a filter with 10 bits per key", f.Measured)
			}
		}
	}
	if most := 30_000 * tables; filters != tables || lookups == 0 || lookups > most {
		t.Errorf("%d lookups in the filters of %d tables, want at most %d in %d", lookups, filters, most, tables)
	}
}

// A measured rate is printed with the decimals that its lookups tell.
func TestDecimals(t *testing.T) {
	t.Parallel()
	got := map[int]int{}
	for _, lookups := range []int{0, 1, 299, 300, 1000, 2999, 3000, 10_000, 30_000, 299_999, 300_000} {
		got[lookups] = decimals(lookups)
	}
	want := map[int]int{0: 0, 1: 0, 299: 0, 300: 1, 1000: 1, 2999: 1, 3000: 2, 10_000: 2, 30_000: 3, 299_999: 3, 300_000: 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
