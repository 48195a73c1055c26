package command

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A changing is a database, and other directories with the same writes in other tables and logs.
type changing struct {
	*levels
	layouts []string // directories that can take the place of dir
}

// newChanging writes a database of at most that many writes.
func newChanging(t *testing.T, rng *rand.Rand, most int) *changing {
	t.Helper()
	dir := t.TempDir()
	d := &changing{levels: newLevels(t, rng, filepath.Join(dir, "db"), most)}
	for i := range 4 {
		other := &levels{rawDatabase: rawDatabase{dir: filepath.Join(dir, fmt.Sprint("other", i)), number: uint64(i+1) * 1000}, rng: rng, writes: d.writes}
		other.layOut(t, i%2 == 0)
		d.layouts = append(d.layouts, other.dir)
	}
	return d
}

// change replaces the files of the database by those of another directory.
func (d *changing) change(t *testing.T) {
	t.Helper()
	other, aside := d.layouts[d.rng.IntN(len(d.layouts))], d.dir+".aside"
	noError(t, os.MkdirAll(aside, 0o777))
	moveFiles(t, d.dir, aside)
	moveFiles(t, other, d.dir)
	moveFiles(t, aside, other)
}

func moveFiles(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	noError(t, err)
	for _, e := range entries {
		noError(t, os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
	}
}

// bound returns a key, or nil.
func (d *levels) bound() []byte {
	if d.rng.IntN(2) == 0 {
		return nil
	}
	return []byte(d.writes[d.rng.IntN(len(d.writes))].key)
}

// options returns options of a scan.
func (d *levels) options() source.ScanOptions {
	return source.ScanOptions{From: d.bound(), To: d.bound(), Reverse: d.rng.IntN(2) == 0, Versions: d.rng.IntN(2) == 0, Tombstones: d.rng.IntN(2) == 0}
}

// While the files of a database are replaced by others with the same writes, a scan with any bounds returns each
// version once and in order, and lookups find all keys.
func TestScanOfChangingFiles(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	tries := rounds(40, 2000)
	changed := 0
	for seed, rng := range seeds(tries, 93) {
		d := newChanging(t, rng, 200)
		openNoted := func() *source.Source { // each source says once that it changed
			notes := map[string]bool{}
			return openSource(t, d.dir, source.Options{Note: func(note string) {
				if changed++; notes[note] {
					t.Errorf("seed %d: %q comes twice", seed, note)
				}
				notes[note] = true
			}})
		}
		lookups := openNoted()
		for range 4 {
			s := openNoted()
			d.scanChanging(t, fmt.Sprint("seed ", seed), s, lookups)
			s.Close()
		}
		lookups.Close()
	}
	if changed < int(tries) {
		t.Errorf("the files changed %d times while %d databases were read", changed, tries)
	}
}

// checkGet compares a lookup with the expected pairs.
func checkGet(t *testing.T, what string, s *source.Source, pairs map[string]string, key string) {
	t.Helper()
	value, there := pairs[key]
	if e, found, err := s.Get([]byte(key)); err != nil || found != there || found && string(e.Value) != value {
		t.Fatalf("%s: Get(%s) = %q, %t, %v; want %q, %t", what, key, e.Value, found, err, value, there)
	}
}

// scanChanging compares a scan, and lookups in another Source, with the model while the files change.
func (d *changing) scanChanging(t *testing.T, what string, s, lookups *source.Source) {
	t.Helper()
	o, often, pairs := d.options(), 1+d.rng.IntN(8), current(d.writes)
	var got []string
	for e, err := range s.Scan(o) {
		if err != nil {
			t.Fatalf("%s, %+v: %v", what, o, err)
		}
		got = append(got, fmt.Sprint(rawEntry{string(e.Key), e.Sequence, e.Kind, string(e.Value)}))
		if d.rng.IntN(often) > 0 {
			continue
		}
		d.change(t)
		checkGet(t, what, lookups, pairs, d.writes[d.rng.IntN(len(d.writes))].key)
	}
	if diff := cmp.Diff(d.expect(o), got); diff != "" {
		t.Errorf("%s, %+v (-want +got):\n%s", what, o, diff)
	}
}

// If a set with layers has more tables than stay open, concurrent scans, and lookups between their entries, return
// the pairs of the set.
func TestScansOfManyOpenTables(t *testing.T) {
	t.Parallel()
	for seed, rng := range seeds(rounds(8, 300), 94) {
		set := newLayeredSet(t, rng, rng.IntN(4))
		s, live := openSource(t, set.dir, source.Options{}), set.live()
		ongoing := map[int]func() (source.Entry, error, bool){}
		var got [3]string
		for i := range got {
			next, stop := iter.Pull2(s.Scan(source.ScanOptions{}))
			defer stop()
			ongoing[i] = next
		}
		for len(ongoing) > 0 {
			i := rng.IntN(len(got))
			if next := ongoing[i]; next != nil {
				if e, err, more := next(); more {
					noError(t, err)
					got[i] += fmt.Sprintf("%s\t%s\n", e.Key, e.Value)
				} else {
					delete(ongoing, i)
				}
			}
			checkGet(t, fmt.Sprint("seed ", seed), s, live, layeredKey(rng.IntN(layeredKeys)))
		}
		if want := linesOfPairs(live); got != [3]string{want, want, want} {
			t.Fatalf("seed %d: scans have\n%s\nwant each\n%s", seed, strings.Join(got[:], "\n"), want)
		}
		for range 20 {
			set.checkBounds(t, fmt.Sprint("seed ", seed), rng, s)
		}
		s.Close()
	}
}

// checkBounds compares a scan within bounds, or of a prefix, with the pairs of the set.
func (l *layeredSet) checkBounds(t *testing.T, what string, rng *rand.Rand, s *source.Source) {
	t.Helper()
	from, to, prefix := layeredKey(rng.IntN(layeredKeys)), layeredKey(rng.IntN(layeredKeys)), ""
	o := source.ScanOptions{From: []byte(from), To: []byte(to), Reverse: rng.IntN(2) == 0}
	if rng.IntN(3) == 0 {
		prefix = from[:2]
		from, to = prefix, prefix+":" // which comes after all digits
		o.From, o.To, o.Prefix = []byte(from), []byte(to), []byte(prefix)
	}
	live := l.live()
	var want, got []string
	for _, key := range slices.Sorted(maps.Keys(live)) {
		if key >= from && key < to {
			want = append(want, key+" "+live[key])
		}
	}
	if o.Reverse {
		slices.Reverse(want)
	}
	for e, err := range s.Scan(o) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got = append(got, string(e.Key)+" "+string(e.Value))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, %+v (-want +got):\n%s", what, o, diff)
	}
}
