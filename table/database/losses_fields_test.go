package database_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// A Loss has the file, the lost part, and its keys or sequence numbers, as far as they are known. An iterator
// reports each lost table again.
func TestFieldsOfLosses(t *testing.T) {
	t.Parallel()
	damaged := func(name string, at int) func(files fstest.MapFS) {
		return func(files fstest.MapFS) { files[name].Data[at] ^= 1 }
	}
	cut := func(name string, size int) func(files fstest.MapFS) {
		return func(files fstest.MapFS) { files[name].Data = files[name].Data[:size] }
	}
	missing := func(name string) func(files fstest.MapFS) { return func(files fstest.MapFS) { delete(files, name) } }
	for name, tt := range map[string]struct {
		change func(c *changed)
		edit   func(files fstest.MapFS)
		want   []string
	}{
		"a missing table":                {edit: missing("000002.ldb"), want: []string{`000002.ldb at -1: keys "a" to "m", writes 0 to 0`}},
		"a table that is cut":            {edit: cut("000002.ldb", 50), want: []string{`000002.ldb at -1: keys "a" to "m", writes 0 to 0`}},
		"a corrupt index":                {edit: damaged("000003.ldb", 50), want: []string{`000003.ldb at -1: keys "b" to "b", writes 0 to 0`}},
		"a missing log":                  {edit: missing("000004.log"), want: []string{`000004.log at -1: keys "" to "", writes 0 to 0`, `000005.log at 0: keys "" to "", writes 1 to 5`}},
		"no last log":                    {edit: missing("000005.log")},
		"a log that is cut":              {edit: cut("000004.log", 30), want: []string{`000004.log at 24: keys "" to "", writes 5 to 5`}},
		"an empty log":                   {edit: cut("000004.log", 0), want: []string{`000004.log at 0: keys "" to "", writes 1 to 5`}},
		"a corrupt record":               {edit: damaged("000004.log", 9), want: []string{`000004.log at 0: keys "" to "", writes 1 to 4`}},
		"a corrupt last record of a log": {edit: damaged("000004.log", 33), want: []string{`000004.log at 24: keys "" to "", writes 5 to 0`, `000004.log at 48: keys "" to "", writes 5 to 5`}},
		"a corrupt last log":             {edit: damaged("000005.log", 9), want: []string{`000005.log at 0: keys "" to "", writes 6 to 0`}},
		"no batch": {change: func(c *changed) { c.write(c.t, []byte("no batch"), batch(set("g", 9, ""))) },
			want: []string{`000006.log at 0: keys "" to "", writes 7 to 8`}},
		"sequence numbers that step back": {change: func(c *changed) { c.write(c.t, batch(set("g", 7, "")), []byte("no batch"), batch(set("h", 3, ""))) },
			want: []string{`000006.log at 23: keys "" to "", writes 0 to 0`}},
	} {
		open, iter := lossesOf(t, changedFiles(t, tt.change, tt.edit))
		if diff := cmp.Diff(tt.want, open); diff != "" {
			t.Errorf("%s: losses of Open (-want +got):\n%s", name, diff)
		}
		tables := slices.DeleteFunc(slices.Clone(tt.want), func(l string) bool { return !strings.Contains(l, ".ldb") })
		if diff := cmp.Diff(strings.Join(tables, "\n"), strings.Join(iter, "\n")); diff != "" {
			t.Errorf("%s: losses of an iterator (-want +got):\n%s", name, diff)
		}
	}
}

// lossesOf returns the losses of opening the database and of an iterator over all of it.
func lossesOf(t *testing.T, files fstest.MapFS) (open, iter []string) {
	t.Helper()
	to := func(losses *[]string) func(l table.Loss) bool {
		return func(l table.Loss) bool {
			*losses = append(*losses, fmt.Sprintf("%s at %d: keys %q to %q, writes %d to %d", l.File, l.Offset, l.From, l.To, l.FirstSequence, l.LastSequence))
			return true
		}
	}
	db := openFS(t, files, &database.Options{OnLoss: to(&open)})
	for _, err := range db.All(&table.IterOptions{OnLoss: to(&iter)}) {
		noError(t, err)
	}
	return open, iter
}
