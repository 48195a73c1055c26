package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

func wholeKey(key []byte) []byte { return key }

// prefixes is a Comparer whose filter keys are the part of a key before a dot.
type prefixes struct{ table.Comparer }

func (prefixes) FilterKey(key []byte) []byte {
	prefix, _, _ := strings.Cut(string(key), ".")
	return []byte(prefix)
}

func internalPairs(users ...string) (pairs []workload.Pair) {
	for _, user := range users {
		pairs = append(pairs, workload.Pair{Key: internalKey(user, 7, internalkey.Set), Value: []byte("of " + user)})
	}
	return pairs
}

// Writers and Readers use a Comparer's FilterKey, unless the options have a FilterKey.
func TestFilterKeyOfComparer(t *testing.T) {
	internal := table.InternalComparer(table.BytewiseComparer)
	for _, tt := range []struct {
		name     string
		comparer table.Comparer
		explicit func([]byte) []byte
		key      []byte
		want     string // the filter key of key
	}{
		{"internal keys", internal, nil, internalKey("ada.1", 7, internalkey.Set), "ada.1"},
		{"internal keys, explicit", internal, wholeKey, internalKey("ada.1", 7, internalkey.Set), string(internalKey("ada.1", 7, internalkey.Set))},
		{"bytewise", table.BytewiseComparer, nil, []byte("ada.1"), "ada.1"},
		{"prefixes", prefixes{table.BytewiseComparer}, nil, []byte("ada.1"), "ada"},
		{"prefixes, explicit", prefixes{table.BytewiseComparer}, wholeKey, []byte("ada.1"), "ada.1"},
		{"internal keys of prefixes", table.InternalComparer(prefixes{table.BytewiseComparer}), nil, internalKey("ada.1", 7, internalkey.Set), "ada"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pairs := []workload.Pair{{Key: tt.key, Value: []byte("1")}}
			contents := build(t, &table.WriterOptions{Comparer: tt.comparer, FilterKey: tt.explicit, FilterPolicy: filter.NewBloom(20)}, pairs)
			r := open(t, contents, &table.ReaderOptions{Comparer: tt.comparer, FilterKey: tt.explicit})
			if _, err := r.Get(tt.key); err != nil {
				t.Errorf("Get = %v", err)
			}
			filters := filtersOf(t, contents)
			for _, key := range []string{"ada", "ada.1", string(tt.key)} {
				if got := filters.Blocks.Contains(0, []byte(key)); got != (key == tt.want) {
					t.Errorf("the filter contains %q: %v", key, got)
				}
			}
		})
	}
}

// A Reader from Open does not use a filter that rules out the table's first keys, and FilterErr says what to do.
func TestOpenNoticesAWrongFilterKey(t *testing.T) {
	internal := table.InternalComparer(table.BytewiseComparer)
	pairs := internalPairs("ada", "grace", "ken")
	policies := table.WriterOptions{FilterPolicy: filter.NewBloom(20), TableFilterPolicy: filter.NewTableBloom(20)}
	for _, tt := range []struct {
		name    string
		written func([]byte) []byte // FilterKey
		read    table.ReaderOptions
		want    string // in FilterErr; "" for none
	}{
		{"of the Comparer", nil, table.ReaderOptions{Comparer: internal}, ""},
		{"the same", wholeKey, table.ReaderOptions{Comparer: internal, FilterKey: wholeKey}, ""},
		{"of a database", nil, table.ReaderOptions{}, "as in a database: use InternalComparer, or FilterKey: internalkey.UserKey"},
		{"of whole keys", wholeKey, table.ReaderOptions{Comparer: internal}, "it has the whole key: use a FilterKey that returns the key"},
		{"of nothing that is known", func([]byte) []byte { return []byte("other") }, table.ReaderOptions{Comparer: internal}, "FilterKey is not the one"},
		{"none is wanted", wholeKey, table.ReaderOptions{Comparer: internal, IgnoreFilter: true}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := policies
			o.Comparer, o.FilterKey = internal, tt.written
			contents := build(t, &o, pairs)
			for i := range 4 {
				tt.read.Mapped = i%2 == 0
				r := openFile(t, contents, &tt.read)
				if i < 2 { // concurrent lookups notice it too
					var lookups sync.WaitGroup
					for range 3 {
						lookups.Go(func() { checkLookups(t, r, pairs) })
					}
					lookups.Wait()
				}
				got := r.FilterErr()
				if (got == nil) != (tt.want == "") || got != nil && (strings.Count(textOf(got), tt.want) != 2 || strings.Count(textOf(got), "t.ldb") != 2) {
					t.Errorf("FilterErr = %v, want %q of both filters of the file", got, tt.want)
				}
				if f := r.Filters(); (f.Table == nil) != (tt.want != "" || tt.read.IgnoreFilter) {
					t.Errorf("Filters = %v, though FilterErr = %v", f, got)
				}
				checkLookups(t, r, pairs)
			}
		})
	}
}

// An fsFile is a file of an fs.FS whose first reads fail, as many as failures.
type fsFile struct {
	*bytes.Reader
	failures int
	fs.FileInfo
}

func (f *fsFile) Open(string) (fs.File, error) { return f, nil }
func (f *fsFile) Stat() (fs.FileInfo, error)   { return f, nil }
func (f *fsFile) Close() error                 { return nil }
func (f *fsFile) Size() int64                  { return f.Reader.Size() }
func (f *fsFile) Mode() fs.FileMode            { return 0 }
func (f *fsFile) ReadAt(p []byte, off int64) (int, error) {
	if f.failures > 0 {
		f.failures--
		return 0, errRead
	}
	return f.Reader.ReadAt(p, off)
}

var errRead = errors.New("the disk is gone")

// If the first keys cannot be read when a filter first rules out a key, the filter is not trusted, and the next
// negative validates it again.
func TestWrongFilterKeyWhileReadsFail(t *testing.T) {
	t.Parallel()
	pairs := internalPairs("ada", "grace", "ken")
	internal := table.InternalComparer(table.BytewiseComparer)
	contents := build(t, &table.WriterOptions{Comparer: internal, FilterPolicy: filter.NewBloom(20)}, pairs)
	denied := pairs[0].Key
	if filtersOf(t, contents).Blocks.Contains(0, denied) {
		t.Fatal("the filter has a whole key by chance")
	}
	file := &fsFile{Reader: bytes.NewReader(contents)}
	r, err := table.OpenFS(fs.FS(file), "a.ldb", &table.ReaderOptions{})
	noError(t, err)
	for _, failures := range []int{1, 2} { // of the block with the first keys, and of the key's own block
		file.failures = failures
		if _, err := r.Get(denied); failures == 1 && err != nil || failures == 2 && !errors.Is(err, errRead) {
			t.Errorf("Get while %d reads fail = %v", failures, err)
		}
	}
	checkLookups(t, r, pairs)
	checkError(t, "FilterErr", r.FilterErr(), nil, "as in a database")
}

// If one filter rules out the first key, the other contains it only by chance: with a wrong FilterKey, it would rule
// out most other keys.
func TestOpenUsesNoFilterIfOneDenies(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	contents := build(t, &table.WriterOptions{BlockSize: 1, FilterBaseLg: 4, FilterPolicy: filter.NewBloom(1), TableFilterPolicy: filter.NewTableBloom(20)}, pairs)
	filters := filtersOf(t, contents)
	wrong := []byte{0}
	for !filters.Blocks.Contains(0, wrong) || filters.Table.Contains(wrong) {
		wrong[0]++
	}
	r := openFile(t, contents, &table.ReaderOptions{FilterKey: func([]byte) []byte { return wrong }})
	if r.FilterErr() == nil {
		t.Error("FilterErr = nil")
	}
	checkLookups(t, r, pairs)
}

// An unreadable first block is not an error of the filter.
func TestOpenWithADamagedFirstBlock(t *testing.T) {
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression}, pairsOf("a", "b"))
	noError(t, openFile(t, flipped(contents, 4), nil).FilterErr())
}

func filtersOf(t *testing.T, contents []byte) layout.Filters {
	t.Helper()
	filters, err := layoutOf(t, contents).Filters()
	noError(t, err)
	return filters
}

// A FilterKey may return the same memory each time. No key of the table is ruled out, and no key of Never is taken
// for a key of the table.
func TestFilterKeyThatReusesItsMemory(t *testing.T) {
	t.Parallel()
	var buf []byte
	reusing := func(key []byte) []byte {
		buf = append(buf[:0], key...)
		return buf
	}
	var keys []workload.Pair
	var absent [][]byte
	for i := range 100 {
		keys = append(keys, workload.Pair{Key: fmt.Appendf(nil, "key%02d", i)})
		absent = append(absent, fmt.Appendf(nil, "kez%02d", i))
	}
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterKey: reusing, Never: neverOf(absent...)}
	only, both := o, o
	only.FilterOnly, both.FilterPolicy = true, filter.NewBloom(10)
	for name, o := range map[string]table.WriterOptions{"filter only": only, "both filters": both} {
		r := open(t, build(t, &o, keys), nil)
		noError(t, mayContainAll(r, keys))
		for _, key := range absent {
			if mayContain(r, key) {
				t.Errorf("%s: MayContain(%q) = true, and Never has it", name, key)
			}
		}
	}
}

// Filters are checked for exactly the first eight keys: a FilterKey that is wrong only for the eighth one is
// noticed.
func TestFiltersAreAskedForEightKeys(t *testing.T) {
	t.Parallel()
	for _, entries := range []int{2, 3, 7, 20} {
		pairs := numbered(entries)
		contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(20), TableFilterPolicy: filter.NewTableBloom(20)}, pairs)
		for i, p := range pairs {
			r := openFile(t, contents, &table.ReaderOptions{Mapped: i%2 == 0, FilterKey: func(key []byte) []byte {
				if bytes.Equal(key, p.Key) {
					return []byte("wrong")
				}
				return key
			}})
			_, err := r.Get(p.Key)
			if i < 8 {
				noError(t, err)
				checkError(t, "FilterErr", r.FilterErr(), nil, fmt.Sprintf("rules out the table's key %q", p.Key))
				checkLookups(t, r, pairs)
			} else if filterErr := r.FilterErr(); filterErr != nil || err == nil {
				t.Errorf("FilterKey is wrong for key %d: FilterErr = %v, Get = %v; want it noticed for the first 8 only", i+1, filterErr, err)
			}
		}
	}
}

// If the first block is corrupt under a valid checksum, the filter is trusted nevertheless: lookups of keys that it
// rules out read neither that block again nor another one.
func TestFilterIsBelievedIfTheFirstBlockIsMalformed(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]string{"no entries": rawtable.Entries(), "an entry that shares": rawtable.Entry(1, "a", "1") + rawtable.Restarts(0)} {
		t.Run(name, func(t *testing.T) {
			var m table.Metrics
			r := openFile(t, soundBut(func(p *twoBlocks) { p.data1 = raw(block) }), &table.ReaderOptions{Metrics: &m})
			for range 3 {
				if _, err := r.Get([]byte("cc")); err != table.ErrNotFound {
					t.Errorf("Get of a key that the filter rules out = %v", err)
				}
			}
			if m.FilterNegatives.Load() != 3 || m.BlocksRead.Load() > 0 || r.FilterErr() != nil {
				t.Errorf("%v; FilterErr = %v", &m, r.FilterErr())
			}
		})
	}
}

// After Close, MayContain returns an error, mapped or not, and whether or not the filter was validated before.
func TestMayContainAfterClose(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterPolicy: filter.NewBloom(10)}, numbered(50))
	for i := range 4 {
		mapped, checked := i%2 == 0, i < 2
		r := openFile(t, contents, &table.ReaderOptions{Mapped: mapped})
		if checked {
			noError(t, r.FilterErr())
		}
		noError(t, r.Close())
		for _, key := range []string{"key000001", "key000002"} { // absent, present
			k := table.HashKey([]byte(key))
			may, err := r.MayContain([]byte(key))
			hashed, hashedErr := r.MayContainHashed(&k)
			if may || hashed || !errors.Is(err, table.ErrClosed) || !errors.Is(hashedErr, table.ErrClosed) {
				t.Errorf("mapped %t, checked before %t: MayContain(%s) = %t, %v, and with a hash %t, %v",
					mapped, checked, key, may, err, hashed, hashedErr)
			}
		}
	}
}
