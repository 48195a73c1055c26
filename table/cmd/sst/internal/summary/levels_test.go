package summary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// levelOf makes tables of one level from ranges such as "a-c".
func levelOf(level int, ranges ...string) (tables []versions.Table) {
	for _, r := range ranges {
		first, last, _ := strings.Cut(r, "-")
		key := func(user string) []byte {
			return internalkey.Key{UserKey: []byte(user), Sequence: 5, Kind: internalkey.Set}.Append(nil)
		}
		tables = append(tables, versions.Table{Level: level, Size: 10, Smallest: key(first), Largest: key(last)})
	}
	return tables
}

// Tables that share a user key overlap, whether all at once or one after the other.
func TestOverlap(t *testing.T) {
	t.Parallel()
	bytewise := table.BytewiseComparer
	for _, tt := range []struct {
		ranges string
		order  table.Comparer
		want   string
	}{
		{"a-c", bytewise, "a to c, 0 overlap"},
		{"a-c d-f g-h", bytewise, "a to h, 0 overlap"},
		{"g-h a-c d-f", bytewise, "a to h, 0 overlap"},
		{"a-c c-f g-h", bytewise, "a to h, 2 overlap"},
		{"a-z b-c d-e x-y", bytewise, "a to z, 4 overlap"},
		{"a-d b-z c-d f-g", bytewise, "a to z, 4 overlap"},
		{"a-b c-d d-e x-y y-z", bytewise, "a to z, 4 overlap"},
		{"a-a a-a", bytewise, "a to a, 2 overlap"},
		{"a-c b-d", table.AnyOrder, "not known"},
	} {
		levels := levelsOf(levelOf(1, strings.Fields(tt.ranges)...), tt.order)
		got := "not known"
		if l := levels[0]; l.Overlap != nil {
			got = fmt.Sprintf("%s to %s, %d overlap", internalkey.UserKey(l.Smallest.Stored), internalkey.UserKey(l.Largest.Stored), *l.Overlap)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.ranges, got, tt.want)
		}
	}
}

// Each level is summarized separately. Levels without tables are left out.
func TestLevels(t *testing.T) {
	t.Parallel()
	tables := append(levelOf(0, "a-c", "b-d"), levelOf(3, "a-a", "b-c", "d-e")...)
	var got []string
	for _, l := range levelsOf(tables, table.BytewiseComparer) {
		got = append(got, fmt.Sprintf("level %d: %d tables, %d bytes", l.Level, l.Tables, l.Bytes))
	}
	if diff := cmp.Diff([]string{"level 0: 2 tables, 20 bytes", "level 3: 3 tables, 30 bytes"}, got); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if got := levelsOf(nil, table.BytewiseComparer); len(got) > 0 {
		t.Errorf("levels of nothing: %v", got)
	}
}
