package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Two Sets share a Cache, and the manifest of one is of another file than it has: the keys and
// sizes are equal, the values are not. Each Set answers from its own file, or not at all.
func TestSetsOfOneCache(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		write   func(t *testing.T, value string) ([]byte, set.Table)
		refused bool
	}{
		{"by a TableWriter", writtenTable, true},
		{"without tailSum", func(t *testing.T, value string) ([]byte, set.Table) {
			contents, line := writtenTable(t, value)
			line.TailSum = ""
			return contents, line
		}, false},
		{"without a digest", describedTable, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, line := tt.write(t, "one")
			two, _ := tt.write(t, "two")
			for _, o := range []table.ReaderOptions{{}, {CacheIndexAndFilters: true}, {SkipChecksums: true}} {
				o.Cache = table.NewCache(1 << 20)
				honest, liar := newStore(), newStore()
				honest.files["t"], liar.files["t"] = one, two
				m := &set.Manifest{Tables: []set.Table{line}}
				s := open(t, m, honest, &set.Options{Reader: o})
				checkGet(t, s, key(7), "one")
				wrong, err := set.Open(background, m, liar, &set.Options{Reader: o})
				if tt.refused {
					if !errors.Is(err, set.ErrMismatch) || !strings.HasPrefix(err.Error(), `set: table "t": tailSum: `) {
						t.Errorf("Open of another table: %v, want ErrMismatch of the tailSum", err)
					}
				} else if err != nil {
					t.Error(err)
				} else {
					checkGet(t, wrong, key(7), "two")
					checkGet(t, wrong, key(8), "two")
				}
				checkGet(t, s, key(8), "one")
			}
		})
	}
}

var plainTables = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression, BlockSize: 256}

// sameValues returns pairs with one value.
func sameValues(value string) [][2]string {
	pairs := numbered(0, perTable)
	for i := range pairs {
		pairs[i][1] = value
	}
	return pairs
}

// writtenTable returns a table with that value for all keys, and its line.
func writtenTable(t *testing.T, value string) ([]byte, set.Table) {
	var b bytes.Buffer
	line := write(t, &b, "t", plainTables, sameValues(value))
	return b.Bytes(), line
}

// describedTable returns a table of another program.
func describedTable(t *testing.T, value string) ([]byte, set.Table) {
	var b bytes.Buffer
	w, err := table.NewWriter(&b, plainTables)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range sameValues(value) {
		if err := w.Append([]byte(p[0]), []byte(p[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	line, err := set.Describe(bytes.NewReader(b.Bytes()), w.Size(), nil)
	if err != nil {
		t.Fatal(err)
	}
	line.Name = "t"
	if want := tailSumOf(t, b.Bytes(), false); line.TailSum != want {
		t.Errorf("Describe: TailSum %s, want %s", line.TailSum, want)
	}
	return b.Bytes(), line
}

// Verify reports, and does not return, that a table cannot be told from others.
func TestVerifyNotesWhatIsNotIdentified(t *testing.T) {
	t.Parallel()
	written, writtenLine := writtenTable(t, "one")
	oldLine := writtenLine
	oldLine.TailSum = ""
	described, describedLine := describedTable(t, "one")
	for _, tt := range []struct {
		contents []byte
		line     set.Table
		want     string
	}{
		{written, writtenLine, ""},
		{written, oldLine, `set: table "t": the manifest has no tailSum of it: `},
		{described, describedLine, `set: table "t": it has no digest of its data blocks: `},
	} {
		src := newStore()
		src.files["t"] = tt.contents
		s := open(t, &set.Manifest{Tables: []set.Table{tt.line}}, src, nil)
		var note error
		if err := s.Verify(background, func(_ set.Table, err error) { note = err }); err != nil {
			t.Errorf("Verify: %v", err)
		}
		if tt.want == "" && note != nil || tt.want != "" && (!errors.Is(note, set.ErrNotIdentified) || !strings.HasPrefix(note.Error(), tt.want)) {
			t.Errorf("Verify reports %v, want %q", note, tt.want)
		}
	}
}

// A table that a manifest lists without a tailSum, and the next one with it, is opened again by
// another name only: its Reader was not compared.
func TestSwapToTailSum(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	old := changed(m.Tables[0], func(l *set.Table) { l.TailSum = "" })
	s := open(t, old, src, nil)
	if err := s.Swap(background, m); err == nil || !strings.HasPrefix(err.Error(), `set: table "t000" is in use with another tailSum: `) {
		t.Errorf("Swap = %v, want an error about tailSum", err)
	}
	other := open(t, m, src, nil)
	if err := other.Swap(background, old); err != nil {
		t.Errorf("Swap to the old manifest: %v", err)
	}
}

// files are versions of tables, of which each name has one at a time. A pinned Source returns
// ErrReplaced, as one of an object store does, if that changes between reads.
type files struct {
	mu      sync.Mutex
	current map[string][]byte
}

type pinned struct {
	*files
	first map[string][]byte // what was read first
}

func (s *pinned) ReadAt(_ context.Context, name string, p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.current[name]
	if now == nil {
		return 0, errors.New("no such file")
	}
	if s.first[name] == nil {
		s.first[name] = now
	}
	if &s.first[name][0] != &now[0] {
		return 0, fmt.Errorf("version %p of %s: %w", now, name, set.ErrReplaced)
	}
	return bytes.NewReader(now).ReadAt(p, off)
}

func (s *pinned) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.first, name)
}

func (s *files) replace(name string, contents []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current[name] = contents
}

// A world has tables in two versions, with Sets of one or the other, and one Cache.
type world struct {
	t        *testing.T
	rng      *rand.Rand
	files    *files
	versions [2][]byte // of each table, as each has the same keys
	lines    [2]set.Table
	sets     [4]*set.Set
	options  set.Options
}

// value is the value of all keys in a version.
func value(version int) string { return []string{"one", "two"}[version] }

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(28, seed)), files: &files{current: map[string][]byte{}}}
	for v := range w.versions {
		w.versions[v], w.lines[v] = writtenTable(t, value(v))
	}
	w.options.Lazy = true
	w.options.Reader.Cache = table.NewCache(int64(1000 << w.rng.IntN(8)))
	w.options.Reader.CacheIndexAndFilters = w.rng.IntN(2) == 0
	w.options.MemorySize = []int64{0, 1, 4000}[w.rng.IntN(3)]
	w.replace()
	for i := range w.sets {
		w.open(i)
	}
	return w
}

// replace puts a version in place of what is there. It is another file in any case.
func (w *world) replace() {
	contents := w.versions[w.rng.IntN(2)]
	if w.rng.IntN(8) == 0 {
		contents = contents[:w.rng.IntN(len(contents))+1]
	}
	w.files.replace("t", bytes.Clone(contents))
}

// open opens set i, of version i mod 2, in place of the one that is open.
func (w *world) open(i int) {
	if w.sets[i] != nil {
		w.sets[i].Close()
	}
	src := &pinned{files: w.files, first: map[string][]byte{}}
	w.sets[i] = open(w.t, &set.Manifest{Tables: []set.Table{w.lines[i%2]}}, src, &w.options)
}

// check looks up a key in some way. The answer is that of the Set's own version, or an error.
func (w *world) check(i int) error {
	s, k := w.sets[i], key(w.rng.IntN(perTable))
	var got string
	var err error
	switch w.rng.IntN(3) {
	case 0:
		var v []byte
		v, err = s.Get(background, []byte(k))
		got = string(v)
	case 1:
		var found map[string]string
		found, err = getMany(background, s, bytesOf(k), nil)
		got = found[k]
	case 2:
		it := s.NewIter(background, nil)
		it.SeekGE([]byte(k))
		got = string(it.Value())
		err = it.Close()
	}
	if err == nil && got != value(i%2) {
		w.t.Fatalf("set %d: %s = %q, want %q", i, k, got, value(i%2))
	}
	if errors.Is(err, table.ErrNotFound) {
		w.t.Fatalf("set %d: %s is not found", i, k)
	}
	return err
}

// Whatever replaces a table, and whatever is evicted and opened again: an answer is that of the
// Set's own manifest. If its table is put back, lookups go on after an error or two.
func TestAnswersAreOfTheSetsOwnTables(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(40, 1000)) {
		w := newWorld(t, seed)
		answers := 0
		for range 300 {
			switch i := w.rng.IntN(len(w.sets)); w.rng.IntN(12) {
			case 0:
				w.replace()
			case 1:
				w.open(i)
			case 2:
				w.files.replace("t", bytes.Clone(w.versions[i%2]))
				if first, second := w.check(i), w.check(i); first != nil && second != nil && w.check(i) != nil {
					t.Fatalf("seed %d: set %d: lookups fail though its table is there: %v", seed, i, w.check(i))
				}
			default:
				if w.check(i) == nil {
					answers++
				}
			}
		}
		if answers == 0 {
			t.Errorf("seed %d: no answers", seed)
		}
	}
}

// A table that was closed to save memory is compared again when it is opened again.
func TestReplacedTableIsNoticed(t *testing.T) {
	t.Parallel()
	one, line := writtenTable(t, "one")
	two, _ := writtenTable(t, "two")
	for name, tt := range map[string]struct {
		options set.Options
		want    error
	}{
		"MemorySize":           {set.Options{MemorySize: 1}, set.ErrMismatch},
		"CacheIndexAndFilters": {set.Options{Reader: table.ReaderOptions{Cache: table.NewCache(100), CacheIndexAndFilters: true}}, table.ErrCorrupt},
	} {
		src := newStore()
		src.files["t"] = one
		s := open(t, &set.Manifest{Tables: []set.Table{line}}, src, &tt.options)
		checkGet(t, s, key(7), "one")
		src.files["t"] = two
		if got, err := s.Get(background, []byte(key(7))); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), "tailSum") && !strings.Contains(err.Error(), "t: footer at ") {
			t.Errorf("%s: Get from another table: %q, %v, want %v", name, got, err, tt.want)
		}
		src.files["t"] = one
		checkGet(t, s, key(7), "one")
	}
}
