package database_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// A missing log that the MANIFEST names is a loss, unless later logs prove that it had no writes.
func TestOpenWithoutLog(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		later [][]byte // the batches of the next log
		none  bool     // there is no next log
		want  []string // losses
		last  uint64   // sequence number
	}{
		"an empty log":       {last: 2},
		"a log that goes on": {later: [][]byte{batch(set("c", 3, "3")), batch(del("a", 4))}, last: 4},
		"no other log":       {none: true, want: []string{"000003.log"}, last: 2},
		"a gap":              {later: [][]byte{batch(set("c", 4, "4"))}, want: []string{"000003.log", "000004.log"}, last: 4},
	} {
		var l layout
		l.table(t, 1, set("a", 1, "1"), set("b", 2, "2"))
		missing := l.write(t)
		if !tt.none {
			l.write(t, tt.later...)
		}
		files := l.end(t)
		delete(files, missing)
		var losses []string
		o := &database.Options{OnLoss: func(l table.Loss) bool { losses = append(losses, l.File); return true }}
		db := openFS(t, files, o)
		if diff := cmp.Diff(tt.want, losses); diff != "" || db.LastSequence() != tt.last {
			t.Errorf("%s: LastSequence = %d, want %d; losses (-want +got):\n%s", name, db.LastSequence(), tt.last, diff)
		}
		if err := openError(files, nil); (err != nil) != (tt.want != nil) {
			t.Errorf("%s: OpenFS without OnLoss = %v", name, err)
		}
		openFS(t, files, &database.Options{IgnoreLogs: true})
	}
}

// Writes that the MANIFEST counts but the newest log lacks are lost, however the log ends.
func TestOpenWithoutCountedWrites(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		log  [][]byte // batches of the log; the MANIFEST counts the writes up to 4
		more [][]byte // batches of a later log
		want []uint64 // sequence numbers of lost writes, first and last
	}{
		"none":            {want: []uint64{3, 4}},
		"one":             {log: [][]byte{batch(set("c", 3, "3"))}, want: []uint64{4, 4}},
		"all":             {log: [][]byte{batch(set("c", 3, "3"), del("a", 4))}},
		"in a later log":  {log: [][]byte{batch(set("c", 3, "3"))}, more: [][]byte{batch(del("a", 4))}},
		"further writes":  {log: [][]byte{batch(set("c", 3, "3"), del("a", 4), set("d", 5, "5"))}},
		"none, later too": {log: [][]byte{batch(set("c", 3, "3"))}, more: [][]byte{}, want: []uint64{4, 4}},
	} {
		var l layout
		l.table(t, 1, set("a", 1, "1"), set("b", 2, "2"))
		l.write(t, tt.log...)
		if tt.more != nil {
			l.write(t, tt.more...)
		}
		files := l.end(t)
		counted := versions.Field{Kind: versions.FieldSequence, Table: versions.Table{Number: 4}}.Append(nil)
		counted = versions.Field{Kind: versions.FieldLog, Table: versions.Table{Number: l.log}}.Append(counted)
		manifest := files["MANIFEST-000001"]
		manifest.Data = append(manifest.Data, tabletest.Log(t, counted)...)
		var lost []uint64
		db := openFS(t, files, &database.Options{OnLoss: func(l table.Loss) bool { lost = append(lost, l.FirstSequence, l.LastSequence); return true }})
		if diff := cmp.Diff(tt.want, lost); diff != "" {
			t.Errorf("%s: lost (-want +got):\n%s", name, diff)
		}
		if last := db.LastSequence(); last < 4 {
			t.Errorf("%s: LastSequence = %d", name, last)
		}
		if err := openError(files, nil); errors.Is(err, table.ErrCorrupt) != (tt.want != nil) {
			t.Errorf("%s: OpenFS without OnLoss = %v", name, err)
		}
	}
}
