package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// With --certain, a repair leaves out entries of which a newer version can be among the lost writes of a log. That is so
// for an entry with the number of a lost write too, since engines use the numbers of a failed write again.
func TestCertainBesideLostWrites(t *testing.T) {
	t.Parallel()
	writes := []rawEntry{{"l5", 5, 1, "5"}, {"l6", 6, 1, "6"}, {"l7", 7, 1, "7"}}
	for name, tt := range map[string]struct {
		damage func(t *testing.T, log string)
		want   string
	}{
		"none":            {func(*testing.T, string) {}, "l5 l6 l7 l8 t1 t2 t3 t4 t5 t6 t7 t8 t9"},
		"the first write": {func(t *testing.T, log string) { flipAt(t, log, 10) }, "l8 t8 t9"}, // the others may be of a log in a value
		"the end":         {func(t *testing.T, log string) { os.Truncate(log, 60) }, "l8 t8 t9"},
		"the log":         {func(t *testing.T, log string) { os.Truncate(log, 0) }, "l8 t8 t9"},
	} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		var entries []rawEntry
		for i := range uint64(9) {
			entries = append(entries, rawEntry{fmt.Sprint("t", i+1), i + 1, 1, "table"})
		}
		d.table(t, 1, 1, entries, nil)
		d.log(t, writes)
		d.log(t, []rawEntry{{"l8", 8, 1, "8"}})
		d.last = 4
		d.end(t)
		tt.damage(t, filepath.Join(d.dir, "000002.log"))
		sst("repair", "--certain", d.dir, "-o", d.dir+".new") // its status is that of the damage
		got := strings.Join(strings.Fields(mustSST(t, "scan", "--keys", d.dir+".new")), " ")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s damaged: certain keys (-want +got):\n%s", name, diff)
		}
	}
}
