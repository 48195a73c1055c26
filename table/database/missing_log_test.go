package database_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// A log that the MANIFEST names and that is missing is a loss, unless the later logs show that it had no writes: these
// are empty, or go on from the last sequence number of the MANIFEST.
func TestOpenWithoutLog(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		later [][]byte // the batches of the next log
		none  bool     // there is none
		extra bool     // there is a table that the MANIFEST does not list
		want  []string // losses
		last  uint64   // sequence number
	}{
		"an empty log":                    {last: 2},
		"a log that goes on":              {later: [][]byte{batch(set("c", 3, "3")), batch(del("a", 4))}, last: 4},
		"a log that goes on, and a table": {later: [][]byte{batch(set("c", 3, "3"))}, extra: true, last: 3},
		"no other log":                    {none: true, want: []string{"000003.log"}, last: 2},
		"a gap":                           {later: [][]byte{batch(set("c", 4, "4"))}, want: []string{"000003.log", "000004.log"}, last: 4},
		"no batch":                        {later: [][]byte{[]byte("none")}, want: []string{"000003.log", "000004.log"}, last: 2},
		"an empty log, and a table":       {extra: true, want: []string{"000003.log"}, last: 2},
	} {
		var l layout
		l.table(t, 1, set("a", 1, "1"), set("b", 2, "2"))
		missing := l.write(t)
		if !tt.none {
			l.write(t, tt.later...)
		}
		if tt.extra {
			fields := l.fields
			l.table(t, 0, set("a", 2, "2"))
			l.fields = fields
		}
		files := l.end(t)
		delete(files, missing)
		var losses []string
		db, err := database.OpenFS(files, ".", &database.Options{OnLoss: func(l table.Loss) bool { losses = append(losses, l.File); return true }})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, losses); diff != "" || db.LastSequence() != tt.last {
			t.Errorf("%s: LastSequence = %d, want %d; losses (-want +got):\n%s", name, db.LastSequence(), tt.last, diff)
		}
		db.Close() // it was only read
		strict, err := database.OpenFS(files, ".", nil)
		if (err != nil) != (tt.want != nil) {
			t.Errorf("%s: OpenFS without OnLoss = %v", name, err)
		}
		if err == nil {
			strict.Close() // it was only read
		}
		openFS(t, files, &database.Options{IgnoreLogs: true})
	}
}
