package source

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/merge"
)

// recovered makes goleveldb recover a database with damaged tables, which it rewrites. It returns the pairs that
// its iterator then finds.
func recovered(t *testing.T, dir string, o *opt.Options) (found map[string]string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	noError(t, err)
	for _, path := range tables {
		flipAt(t, path, input.TotalSize([]string{path})/3)
	}
	found, err = filetest.EntriesOf(leveldb.RecoverFile(dir, o))
	noError(t, err)
	return found
}

// pairsOf returns the pairs that a scan yields.
func pairsOf(t *testing.T, s *Source) map[string]string {
	t.Helper()
	found := map[string]string{}
	for e, err := range s.Scan(ScanOptions{}) {
		noError(t, err)
		found[string(e.Key)] = string(e.Value)
	}
	return found
}

// Tables rewritten by goleveldb's recovery have internal keys in the order of user keys, and a filter of internal
// keys. They are recognized, and all their keys are found. They are sorted each time they are opened, also if there
// are too many to keep open.
func TestRewrittenTables(t *testing.T) {
	t.Parallel()
	const never = 1 << 20 // otherwise compaction would rewrite them
	for name, tt := range map[string]struct {
		o      opt.Options
		writes int
		many   bool
	}{
		"no filter": {opt.Options{WriteBuffer: 32 << 10}, 5000, false},
		"filter":    {opt.Options{WriteBuffer: 32 << 10, Filter: filter.NewBloomFilter(10)}, 5000, false},
		"many":      {opt.Options{WriteBuffer: 16 << 10}, 20_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tt.o.CompactionL0Trigger, tt.o.WriteL0SlowdownTrigger, tt.o.WriteL0PauseTrigger = never, never, never
			writeTo(t, dir, &tt.o, func(db *leveldb.DB) (err error) {
				for i := range tt.writes {
					key := fmt.Appendf(nil, "key%04d", i*7919%3000)
					if err = errors.Join(err, db.Put(key, fmt.Append(nil, i), nil)); i%7 == 0 {
						err = errors.Join(err, db.Delete(key, nil))
					}
				}
				return err
			})
			want := recovered(t, dir, &tt.o)
			var notes []string
			s := openSource(t, dir, Options{Note: func(note string) { notes = append(notes, note) }})
			for n := range 3 {
				if diff := cmp.Diff(want, pairsOf(t, s)); diff != "" || len(s.Losses(KeyRange{})) > 0 || len(want) < 1000 {
					t.Errorf("scan %d of %d tables (-goleveldb's iterator +got):\n%s%v", n, len(s.Tables), diff, s.Losses(KeyRange{}))
				}
			}
			if tt.many != (len(s.Tables) > maxOpenTables) {
				t.Errorf("%d tables", len(s.Tables))
			}
			if !tt.many { // otherwise it takes long
				checkLookups(t, s, slices.Collect(maps.Keys(want)), func(key string) (string, bool) { return want[key], true })
			}
			if !strings.Contains(fmt.Sprint(notes), "goleveldb's recovery wrote its internal keys in bytewise order") {
				t.Errorf("notes %q, want one of the recovery", notes)
			}
		})
	}
}

// A single table of this kind is treated as it is, without sorting a copy.
func TestRewrittenTableAlone(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	recovered(t, dir, &opt.Options{CompactionL0Trigger: 1000})
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	noError(t, err)
	rewritten := 0
	for _, l := range d.Tables {
		f := openSource(t, l.Path, Options{OneTable: true}).File()
		if f.Rewritten {
			rewritten++
		}
		if end := f.Layout.Footer + 48; end != f.Size {
			t.Errorf("%s: the footer ends at %d, the file at %d", l.Path, end, f.Size)
		}
		noError(t, f.Reader.Verify())
	}
	if rewritten == 0 {
		t.Error("no table was written by the recovery")
	}
}

// A damaged block in a table rewritten by goleveldb's recovery loses the keys of that block. Since its blocks are
// in another order, the loss can be any of the table's keys.
func TestDamagedRewrittenTable(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	want := recovered(t, dir, &opt.Options{CompactionL0Trigger: 1000})
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	noError(t, err)
	damaged := d.Tables[0].Path
	flipAt(t, damaged, input.TotalSize([]string{damaged})/2)
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
