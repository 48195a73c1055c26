package merge_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// iterOf returns an Iter over a table of the pairs.
func iterOf(t *testing.T, order table.Comparer, pairs []workload.Pair) *table.Iter {
	t.Helper()
	contents := tabletest.Build(t, &table.WriterOptions{BlockSize: 1, Comparer: order}, pairs)
	return tabletest.Open(t, contents, &table.ReaderOptions{Comparer: order}).NewIter(nil)
}

// levelIter returns a LevelIter over tables of one-letter keys, with ranges of two letters each. It records opened
// and closed tables in log.
func levelIter(t *testing.T, log *string, ranges, keys []string) *merge.LevelIter {
	t.Helper()
	var tables []merge.LevelTable
	for i, r := range ranges {
		tables = append(tables, merge.LevelTable{Name: fmt.Sprintf("%06d.ldb", i), Smallest: []byte(r[:1]), Largest: []byte(r[1:])})
	}
	it, err := merge.NewLevelIter(table.BytewiseComparer, tables, func(i int) (merge.Iterator, error) {
		*log += fmt.Sprint(" +", i)
		return closing{iterOf(t, nil, tabletest.PairsOf(strings.Split(keys[i], "")...)), func() error {
			*log += fmt.Sprint(" -", i)
			return nil
		}}, nil
	})
	errtest.NoError(t, err)
	return it
}

// closing is an Iterator whose Close also calls a function.
type closing struct {
	merge.Iterator
	also func() error
}

func (c closing) Close() error { return errors.Join(c.Iterator.Close(), c.also()) }

func TestLevelRangesAreChecked(t *testing.T) {
	const order = ": ranges must be in order and not overlap; merge such tables with New"
	for name, tt := range map[string]struct {
		ranges string
		want   string
	}{
		"no tables": {"", "<nil>"},
		"in order":  {"aa bc de", "<nil>"},
		"overlap":   {"ac bd", `merge: level: table 1 has keys "b" to "d", and table 0 before it "a" to "c"` + order},
		"share key": {"ab bc", `merge: level: table 1 has keys "b" to "c", and table 0 before it "a" to "b"` + order},
		"unordered": {"cd ab", `merge: level: table 1 has keys "a" to "b", and table 0 before it "c" to "d"` + order},
		"inverted":  {"ab dc", `merge: level: table 1: its range "d" to "c" is empty: Smallest > Largest`},
	} {
		t.Run(name, func(t *testing.T) {
			var tables []merge.LevelTable
			for _, r := range strings.Fields(tt.ranges) {
				tables = append(tables, merge.LevelTable{Smallest: []byte(r[:1]), Largest: []byte(r[1:])})
			}
			it, err := merge.NewLevelIter(table.BytewiseComparer, tables, nil)
			if got := fmt.Sprint(err); got != tt.want || (it == nil) != (err != nil) {
				t.Errorf("%v\n%s, want\n%s", it, got, tt.want)
			}
		})
	}
}

// Tables are opened when they are reached, and closed when they are left.
func TestLevelOpensWhatItReaches(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		move func(it *merge.LevelIter)
		want string
	}{
		"no move":     {func(it *merge.LevelIter) {}, ""},
		"first table": {func(it *merge.LevelIter) { it.First(); it.Next(); it.Prev() }, " +0 -0"},
		"last table":  {func(it *merge.LevelIter) { it.Last() }, " +2 -2"},
		"seeks in a table": {func(it *merge.LevelIter) {
			it.SeekGE([]byte("e"))
			it.SeekGE([]byte("d"))
			it.SeekLT([]byte("f"))
		}, " +1 -1"},
		"from a gap":       {func(it *merge.LevelIter) { it.SeekGE([]byte("c")); it.Prev(); it.SeekGE([]byte("z")) }, " +1 -1 +0 -0"},
		"before the first": {func(it *merge.LevelIter) { it.SeekLT([]byte("d")); it.SeekLT([]byte("a")) }, " +0 -0"},
		"over all, and back": {func(it *merge.LevelIter) {
			for it.Next() {
			}
			it.Prev()
		}, " +0 -0 +1 -1 +2 -2 +2 -2"},
	} {
		t.Run(name, func(t *testing.T) {
			log := ""
			it := levelIter(t, &log, []string{"ab", "df", "gh"}, []string{"ab", "def", "gh"})
			if tt.move(it); it.Close() != nil || log != tt.want {
				t.Errorf("opened and closed%s, want%s", log, tt.want)
			}
		})
	}
}

// If a table has keys outside of its listed range, a move to such a key fails, and none is returned.
func TestLevelShowsNoKeyOutsideOfItsRange(t *testing.T) {
	t.Parallel()
	log := ""
	for name, tt := range map[string]struct {
		keys string // of the table in the middle, with the range from d to f
		move func(it *merge.LevelIter) bool
		key  string
	}{
		"before, Next into the table": {"cde", func(it *merge.LevelIter) bool { return it.SeekGE([]byte("b")) && it.Next() }, "c"},
		"before, Prev after SeekGE":   {"cde", func(it *merge.LevelIter) bool { return it.SeekGE([]byte("d")) && it.Prev() }, "c"},
		"before, Prev after SeekLT":   {"cde", func(it *merge.LevelIter) bool { return it.SeekLT([]byte("e")) && it.Prev() }, "c"},
		"behind, Next after SeekGE":   {"deg", func(it *merge.LevelIter) bool { return it.SeekGE([]byte("e")) && it.Next() }, "g"},
		"behind, SeekGE":              {"deg", func(it *merge.LevelIter) bool { return it.SeekGE([]byte("f")) }, "g"},
		"behind, Prev into the table": {"deg", func(it *merge.LevelIter) bool { return it.SeekLT([]byte("h")) && it.Prev() }, "g"},
	} {
		t.Run(name, func(t *testing.T) {
			it := levelIter(t, &log, []string{"ab", "df", "hi"}, []string{"ab", tt.keys, "hi"})
			moved := tt.move(it)
			want := fmt.Sprintf(`table: corrupt: 000001.ldb has key %q, outside of its range, "d" to "f"`, tt.key)
			if err := it.Error(); moved || it.Valid() || !errors.Is(err, table.ErrCorrupt) || err.Error() != want {
				t.Errorf("%v, %v; want\n%s", moved, err, want)
			}
			if it.Next() || it.Prev() || !it.First() || !it.Last() || it.Error() != nil {
				t.Errorf("after the error: %v", it.Error())
			}
		})
	}
}

// An error of closing a table is returned once, by the move that leaves the table, or by Close.
func TestIteratorsCloseErrors(t *testing.T) {
	t.Parallel()
	order := table.BytewiseComparer
	fails := func(i int) (merge.Iterator, error) {
		return closing{iterOf(t, nil, tabletest.PairsOf(string(rune('a'+i)))), func() error { return tabletest.ErrBroken }}, nil
	}
	it, err := merge.NewLevelIter(order, []merge.LevelTable{{Smallest: []byte("a"), Largest: []byte("a")}, {Smallest: []byte("b"), Largest: []byte("b")}}, fails)
	errtest.NoError(t, err)
	if !it.First() || it.Next() || !errors.Is(it.Error(), tabletest.ErrBroken) {
		t.Errorf("leaving a table: %v", it.Error())
	}
	if want, err := it.Error(), it.Close(); err != want {
		t.Errorf("Close = %v, want what Error told: %v", err, want)
	}
	one, _ := fails(0)
	two, _ := fails(1)
	m := merge.New(order, one, two)
	s := merge.NewSnapshotIter(order, m, 1)
	if err := s.Close(); fmt.Sprint(err) != "broken\nbroken" {
		t.Errorf("closing two: %v", err)
	}
	memory := memoryIter(order, tabletest.PairsOf("a"))
	if !memory.First() || memory.Close() != nil {
		t.Errorf("closing a MemoryIter: %v", memory.Error())
	}
	for _, it := range []merge.Iterator{it, m, s, memory} {
		if it.Next() || it.Prev() || it.First() || it.Last() || it.SeekGE([]byte("a")) || it.SeekLT([]byte("z")) || it.Valid() {
			t.Errorf("%T: it is closed, and moved", it)
		}
		if it.Key() != nil || it.Value() != nil || it.Error() != table.ErrClosed || it.Close() != table.ErrClosed {
			t.Errorf("%T: it is closed: %q, %q, %v", it, it.Key(), it.Value(), it.Error())
		}
	}
	if m.Source() != -1 {
		t.Errorf("Source = %d, want -1", m.Source())
	}
}

// Keys that are not internal keys, and versions of unknown kinds, are errors in either direction, unless the
// snapshot skips them.
func TestSnapshotRefusesKeysThatAreNotInternal(t *testing.T) {
	t.Parallel()
	key := func(user string, sequence uint64, kind internalkey.Kind) string {
		return string(internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: kind}.Append(nil))
	}
	order := table.InternalComparer(table.BytewiseComparer)
	const kind7 = `table: corrupt: the newest version of key "b" has kind 7, neither 1 (set) nor 0 (delete)`
	const short = `table: corrupt: key "short" has 5 bytes: an internal key is a user key and 8 bytes of sequence number and kind`
	for _, tt := range []struct {
		name     string
		keys     []string
		up, down string // the keys, and the error
	}{
		{"unknown", []string{key("a", 1, 1), key("b", 2, 7), key("b", 1, 1), key("c", 3, 1)}, "a " + kind7, "c " + kind7},
		{"unknown and the first", []string{key("b", 2, 7), key("c", 3, 1)}, kind7, "c " + kind7},
		{"older unknown", []string{key("b", 2, 1), key("b", 1, 7), key("c", 3, 1)}, "b c ", "c b "},
		{"older unknown of a deleted one", []string{key("b", 2, 0), key("b", 1, 7), key("c", 3, 1)}, "c ", "c "},
		{"newer unknown", []string{key("b", 9, 7), key("b", 1, 1), key("c", 3, 1)}, "b c ", "c b "},
		{"short", []string{"short", key("b", 1, 1), key("c", 3, 1)}, short, "c " + short},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it := merge.NewSnapshotIter(table.BytewiseComparer, iterOf(t, order, tabletest.PairsOf(tt.keys...)), 5)
			up, down := "", ""
			for it.Next() {
				up += string(it.Key()) + " "
			}
			up = strings.ReplaceAll(fmt.Sprint(up, it.Error()), "<nil>", "")
			for ok := it.Last(); ok; ok = it.Prev() {
				down += string(it.Key()) + " "
			}
			down = strings.ReplaceAll(fmt.Sprint(down, it.Error()), "<nil>", "")
			if diff := cmp.Diff([]string{tt.up, tt.down}, []string{up, down}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !it.SeekGE([]byte("c")) || string(it.Key()) != "c" || it.Error() != nil {
				t.Errorf("SeekGE behind the error is at %q, %v", it.Key(), it.Error())
			}
		})
	}
}

// After a panic of a source, the iterators fail until First, Last or a seek succeeds.
func TestIteratorsFailUntilASeekAfterAPanic(t *testing.T) {
	t.Parallel()
	panics := false
	order := tabletest.Order{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int {
		if panics {
			panic("Comparer")
		}
		return bytes.Compare(a, b)
	}}
	var tables []merge.LevelTable
	for _, k := range []string{"a", "b", "c"} {
		tables = append(tables, merge.LevelTable{Smallest: []byte(k), Largest: []byte(k)})
	}
	level, err := merge.NewLevelIter(order, tables, func(i int) (merge.Iterator, error) {
		return iterOf(t, nil, tabletest.PairsOf(string(rune('a'+i)))), nil
	})
	errtest.NoError(t, err)
	panicsIn(t, level, &panics)
	panicsIn(t, merge.NewMemoryIter(order, 3, func(i int) (key, value []byte) {
		if panics {
			panic("entry")
		}
		return []byte{'a' + byte(i)}, nil
	}), &panics)
	panicsIn(t, merge.New(order, level, iterOf(t, nil, tabletest.PairsOf("aa", "bb"))), &panics)
	panicsIn(t, merge.NewSnapshotIter(order, merge.NewMemoryIter(table.InternalComparer(order), 4, func(i int) (key, value []byte) {
		if panics {
			panic("entry")
		}
		return internalkey.Key{UserKey: []byte("ABbc"[i : i+1]), Sequence: 1, Kind: internalkey.Set}.Append(nil), nil
	}), 1), &panics)
}

// panicsIn makes each move with a source or Comparer that panics, after a seek in either direction.
func panicsIn(t *testing.T, it merge.Iterator, panics *bool) {
	t.Helper()
	up := func() bool { return it.SeekGE([]byte("b")) }
	down := func() bool { return it.SeekLT([]byte("bb")) }
	for _, seek := range []func() bool{up, down} {
		for _, move := range []func() bool{it.First, it.Last, it.Next, it.Prev} {
			if !seek() || string(it.Key()) != "b" || it.Error() != nil {
				t.Fatalf("%T: a seek after a panic is at %q, %v", it, it.Key(), it.Error())
			}
			*panics = true
			errtest.PanicOf(func() { move() })
			*panics = false
			if it.Valid() || it.Next() || it.Prev() || it.Error() == nil {
				t.Fatalf("%T: after a panic: Valid = %v, Error = %v", it, it.Valid(), it.Error())
			}
		}
	}
}
