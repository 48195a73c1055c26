package summary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
)

// levelOf makes tables of one level of ranges such as "a-c".
func levelOf(level int, ranges ...string) (tables []database.Table) {
	for _, r := range ranges {
		first, last, _ := strings.Cut(r, "-")
		key := func(user string) []byte {
			return table.InternalKey{UserKey: []byte(user), Sequence: 5, Kind: table.KindSet}.Append(nil)
		}
		tables = append(tables, database.Table{Level: level, Size: 10, Smallest: key(first), Largest: key(last)})
	}
	return tables
}

// Tables overlap that share a key of a user, all of them at once or one after the other.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ranges, comparer string
		want             string
	}{
		{"a-c", "", "a to c, 0 overlap"},
		{"a-c d-f g-h", "", "a to h, 0 overlap"},
		{"g-h a-c d-f", "leveldb.BytewiseComparator", "a to h, 0 overlap"},
		{"a-c c-f g-h", "", "a to h, 2 overlap"},
		{"a-z b-c d-e x-y", "", "a to z, 4 overlap"},
		{"a-d b-z c-d f-g", "", "a to z, 4 overlap"},
		{"a-b c-d d-e x-y y-z", "", "a to z, 4 overlap"},
		{"a-a a-a", "", "a to a, 2 overlap"},
		{"a-c b-d", "test.Unknown", "not known"},
	} {
		levels := levelsOf(&database.Version{Comparer: tt.comparer, Tables: levelOf(1, strings.Fields(tt.ranges)...)})
		got := "not known"
		if l := levels[0]; l.Overlap != nil {
			got = fmt.Sprintf("%s to %s, %d overlap", table.InternalFilterKey(l.Smallest.Stored), table.InternalFilterKey(l.Largest.Stored), *l.Overlap)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.ranges, got, tt.want)
		}
	}
}

// Levels are told apart, and those without tables left out.
func TestLevels(t *testing.T) {
	t.Parallel()
	tables := append(levelOf(0, "a-c", "b-d"), levelOf(3, "a-a", "b-c", "d-e")...)
	var got []string
	for _, l := range levelsOf(&database.Version{Tables: tables}) {
		got = append(got, fmt.Sprintf("level %d: %d tables, %d bytes", l.Level, l.Tables, l.Bytes))
	}
	if diff := cmp.Diff([]string{"level 0: 2 tables, 20 bytes", "level 3: 3 tables, 30 bytes"}, got); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if got := levelsOf(new(database.Version)); len(got) > 0 {
		t.Errorf("levels of nothing: %v", got)
	}
}
