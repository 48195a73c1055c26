package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// absentKeys yields n keys that numbered pairs do not have, each behind one that they have.
func absentKeys(n int) iter.Seq2[[]byte, error] {
	var keys [][]byte
	for _, p := range numbered(n) {
		keys = append(keys, append(p.Key, '~'))
	}
	return neverOf(keys...)
}

// withNever returns a table of n keys whose filter has many exceptions, and the handle of their block.
func withNever(t testing.TB, n int, o table.WriterOptions) (contents []byte, keys []workload.Pair, h table.Handle) {
	t.Helper()
	o.TableFilterPolicy, o.Never = filter.NewTableBloom(1), absentKeys(10*n)
	for _, p := range numbered(n) {
		keys = append(keys, workload.Pair{Key: p.Key})
	}
	contents = build(t, &o, keys)
	h = open(t, contents, nil).Filters().NeverEntry.Handle
	if h.Length == 0 {
		t.Fatal("the table has no exceptions")
	}
	return contents, keys, h
}

// Whatever byte of the exceptions is damaged, none of them is used, so that no key is denied, and it is
// reported.
func TestDamagedExceptionsDenyNoKey(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]table.WriterOptions{"entries": {}, "filter only": {FilterOnly: true}} {
		sound, keys, h := withNever(t, 30, o)
		for at := h.Offset; at < h.Offset+h.Length+5; at++ {
			changed := bytes.Clone(sound)
			changed[at] ^= 1 << (at % 8)
			r := open(t, changed, nil)
			for call, err := range map[string]error{"FilterErr": r.FilterErr(), "Verify": r.Verify()} {
				if c := (*table.CorruptionError)(nil); !errors.As(err, &c) || c.Block != table.NeverBlock || c.Offset != int64(h.Offset) {
					t.Errorf("%s: byte %d of the file changed: %s = %v, want damage of the exceptions", name, at, call, err)
				}
			}
			if n := r.Filters().Never.Len(); n > 0 {
				t.Errorf("%s: byte %d of the file changed: %d exceptions are used", name, at, n)
			}
			for _, p := range keys {
				if !r.MayContain(p.Key) {
					t.Fatalf("%s: byte %d of the file changed: MayContain(%q) = false", name, at, p.Key)
				}
			}
		}
	}
}

// With right checksums damage is an error, of whatever form the block is, or Verify says what is wrong
// with the keys.
func TestFaultsOfExceptions(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a", "b", "c")
	generator := filter.NewTableBloom(10).NewTableGenerator()
	for _, p := range pairs {
		generator.Add(p.Key)
	}
	bloom, err := generator.Generate()
	if err != nil {
		t.Fatal(err)
	}
	same := func(handle string) string { return handle }
	for _, tt := range []struct {
		name, block string
		handle      func(filter string) string // of the exceptions, if not that of block
		want        string
		unused      bool // FilterErr says it too
	}{
		{"a key of the table", rawtable.Entries("b", ""), nil, "denies 1 of 3 keys of the data block at 0: \"b\"", false},
		{"of another filter", rawtable.Entries("x", "", "y", ""), nil, `2 of 2 keys are not in the table filter block at 63, such as "x"`, false},
		{"out of order", rawtable.Entries("y", "", "x", ""), nil, "exceptions block at", true},
		{"no block", "\x00", nil, "block of 1 bytes", true},
		{"in the filter", rawtable.Entries("x", ""), same, "overlaps the", true},
	} {
		var f rawtable.File
		data := f.Block(rawtable.Entries("a", "value of a", "b", "value of b", "c", "value of c"))
		whole := f.Block(string(bloom))
		never := f.Block(tt.block)
		if tt.handle != nil {
			never = tt.handle(whole)
		}
		meta := f.Block(rawtable.Entries("fullfilter.rocksdb.BuiltinBloomFilter", whole, "sievetable.never", never))
		contents := f.Footer(meta, f.Block(rawtable.Entries("c", data)))
		r := open(t, contents, nil)
		if err := r.Verify(); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: Verify = %v, want %q", tt.name, err, tt.want)
		}
		if err := r.FilterErr(); errors.Is(err, table.ErrCorrupt) != tt.unused {
			t.Errorf("%s: FilterErr = %v", tt.name, err)
		}
		if !r.MayContain([]byte("a")) {
			t.Errorf("%s: MayContain(a) = false", tt.name)
		}
	}
}

// A table from Open whose exceptions deny one of its first keys uses no filter.
func TestExceptionsThatDenyTheFirstKeyAreNotTrusted(t *testing.T) {
	t.Parallel()
	contents, _, _ := withNever(t, 30, table.WriterOptions{Compression: table.NoCompression})
	at := bytes.Index(contents, []byte("key000000")) // in the first data block
	if at < 0 {
		t.Fatal("the first key is not in the file")
	}
	name := filepath.Join(t.TempDir(), "a.ldb")
	if err := os.WriteFile(name, contents, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := table.Open(name, &table.ReaderOptions{FilterKey: func(key []byte) []byte { return append(bytes.Clone(key), '~') }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Get([]byte("key000000")); err != nil {
		t.Errorf("Get with a FilterKey of other keys = %v", err)
	}
	if f := r.Filters(); f.Never != nil || f.Table != nil || r.FilterErr() == nil {
		t.Errorf("the filters are used: %+v, %v", f, r.FilterErr())
	}
}
