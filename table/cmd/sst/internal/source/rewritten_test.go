package source

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/merge"
)

// recovered has goleveldb recover a database with damaged tables, which it writes anew, and
// returns what its iterator finds then.
func recovered(t *testing.T, dir string, o *opt.Options) (found map[string]string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tables {
		flip(t, path, 1./3)
	}
	db, err := leveldb.RecoverFile(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	it := db.NewIterator(nil, nil)
	found = map[string]string{}
	for it.Next() {
		found[string(it.Key())] = string(it.Value())
	}
	it.Release()
	if err := errors.Join(it.Error(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return found
}

// pairsOf returns what a scan finds.
func pairsOf(t *testing.T, s *Source) map[string]string {
	t.Helper()
	found := map[string]string{}
	for e, err := range s.Scan(ScanOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		found[string(e.Key)] = string(e.Value)
	}
	return found
}

// Tables that goleveldb's recovery wrote anew have internal keys in the order of user keys,
// and a filter of internal keys. They are recognized, and all of their keys are found.
func TestRewrittenTables(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*opt.Options{
		"no filter": {CompactionL0Trigger: 1000}, // compacting would write them anew again
		"filter":    {CompactionL0Trigger: 1000, Filter: filter.NewBloomFilter(10)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeDatabase(t, dir)
			want := recovered(t, dir, o)
			var notes []string
			s := openSource(t, dir, Options{Note: func(note string) { notes = append(notes, note) }})
			if diff := cmp.Diff(want, pairsOf(t, s)); diff != "" || len(want) < 1000 {
				t.Errorf("%d keys (-goleveldb's iterator +got):\n%s", len(want), diff)
			}
			for key, value := range want {
				if e, found, err := s.Get([]byte(key)); string(e.Value) != value || !found || err != nil {
					t.Fatalf("Get(%q) = %q, %v, %v; want %q", key, e.Value, found, err, value)
				}
			}
			if !strings.Contains(fmt.Sprint(notes), "goleveldb's recovery wrote its internal keys in bytewise order") {
				t.Errorf("notes %q, want one of the recovery", notes)
			}
		})
	}
}

// They are sorted each time that they are opened, also if there are too many to stay open.
func TestManyRewrittenTables(t *testing.T) {
	t.Parallel()
	const never = 1 << 20
	dir := t.TempDir()
	o := &opt.Options{WriteBuffer: 16 << 10, CompactionL0Trigger: never, WriteL0SlowdownTrigger: never, WriteL0PauseTrigger: never}
	db, err := leveldb.OpenFile(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		key := fmt.Appendf(nil, "key%04d", i*7919%3000)
		if err := db.Put(key, fmt.Append(nil, i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	want := recovered(t, dir, o)
	s := openSource(t, dir, Options{})
	for n := range 3 {
		if diff := cmp.Diff(want, pairsOf(t, s)); diff != "" || len(s.Losses(KeyRange{})) > 0 || len(s.Tables) <= maxOpenTables {
			t.Errorf("scan %d of %d tables (-goleveldb's iterator +got):\n%s%v", n, len(s.Tables), diff, s.Losses(KeyRange{}))
		}
	}
}

// What is done with such a table alone is about the file as it is, and not about a copy that is
// sorted.
func TestRewrittenTableAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeDatabase(t, dir)
	recovered(t, dir, &opt.Options{CompactionL0Trigger: 1000})
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	if err != nil || len(d.Tables) == 0 {
		t.Fatal(d.Tables, err)
	}
	rewritten := 0
	for _, l := range d.Tables {
		s, err := OpenSource(l.Path, Options{OneTable: true})
		if err != nil {
			t.Fatal(err)
		}
		f := s.File()
		if f.Rewritten {
			rewritten++
		}
		if end := f.Layout.Footer + 48; end != f.Size {
			t.Errorf("%s: the footer ends at %d, the file at %d", l.Path, end, f.Size)
		}
		if err := errors.Join(f.Reader.Verify(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	if rewritten == 0 {
		t.Error("no table was written by the recovery")
	}
}

// Damage in a table that goleveldb's recovery wrote anew, whose blocks are in another order, costs
// the keys of a block, and may be that of any of its keys.
func TestDamagedRewrittenTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeDatabase(t, dir)
	want := recovered(t, dir, &opt.Options{CompactionL0Trigger: 1000})
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	flip(t, d.Tables[0].Path, 0.5)
	s := openSource(t, dir, Options{})
	n := 0
	for e, err := range s.Scan(ScanOptions{}) {
		if n++; err != nil || want[string(e.Key)] != string(e.Value) {
			t.Fatalf("%q = %q, %v, want %q", e.Key, e.Value, err, want[string(e.Key)])
		}
	}
	losses := s.Losses(KeyRange{})
	if n == len(want) || n < len(want)/2 || len(losses) != 1 {
		t.Fatalf("%d of %d keys, lost are %v; want most, and one Loss", n, len(want), losses)
	}
	for key := range want {
		_, found, err := s.Get([]byte(key))
		inRange := losses[0].Keys.overlaps(s.Order, KeyRange{From: []byte(key), To: []byte(key)})
		if hidden := errors.As(err, new(*merge.HiddenError)); hidden != inRange || !found && !hidden {
			t.Fatalf("Get(%q): found %v, %v, in the lost range: %v", key, found, err, inRange)
		}
	}
}
