package source

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// numberedKeys are in bytewise order.
func numberedKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key%06d", i)
	}
	return keys
}

// A table with two swapped keys is in another order, wherever they are.
func TestAnySwappedPairIsAnotherOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 60
	for i := range n - 1 {
		for _, size := range []int{1, 100, 1 << 20} {
			keys := numberedKeys(n)
			keys[i], keys[i+1] = keys[i+1], keys[i]
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.ldb", i, size))
			filetest.WriteTable(t, path, table.WriterOptions{Comparer: table.AnyOrder, BlockSize: size, FilterPolicy: filter.NewBloom(10)}, keys...)
			f := open(t, path, dbfile.Options{})
			if f.Order != table.AnyOrder || !strings.Contains(f.OrderNote, "not in bytewise order") {
				t.Fatalf("pair %d, blocks of %d: order %s, %q", i, size, f.Order.Name(), f.OrderNote)
			}
			noError(t, f.Reader.Verify())
			if _, _, err := f.Get([]byte(keys[0])); err == nil || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "--comparator") {
				t.Fatalf("Get = %v, want it refused", err)
			}
			if _, err := dbfile.Open(path, dbfile.Options{Order: dbfile.ExplicitOrder(table.BytewiseComparer)}); err == nil {
				f := open(t, path, dbfile.Options{Order: dbfile.ExplicitOrder(table.BytewiseComparer)})
				err = f.Reader.Verify()
				if !errors.Is(err, table.ErrCorrupt) || !errors.Is(f.Wrap(err), table.ErrCorrupt) {
					t.Fatalf("pair %d, blocks of %d, bytewise for sure: %v, want damage", i, size, err)
				}
			}
		}
	}
}

// Only a part of a large table is checked when it is opened. Disorder that is found later is not damage either.
func TestSwappedPairThatIsNotLookedAt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.ldb")
	w, err := table.Create(path, &table.WriterOptions{Comparer: table.AnyOrder, BlockSize: 1 << 20, Compression: table.NoCompression})
	noError(t, err)
	keys := numberedKeys(2 * 3 * 8 << 20 >> 20)
	keys[2], keys[3] = keys[3], keys[2] // in the second block, between two blocks that are checked
	for _, key := range keys {
		noError(t, w.Append([]byte(key), make([]byte, 512<<10)))
	}
	noError(t, w.Close())
	f := open(t, path, dbfile.Options{})
	found := f.Reader.Verify()
	if f.Order != table.BytewiseComparer || !errors.Is(found, table.ErrOrder) {
		t.Fatalf("order %s, Verify = %v; want bytewise and ErrOrder", f.Order.Name(), found)
	}
	s := openSource(t, path, Options{})
	for _, err := range s.Scan(ScanOptions{}) {
		if err != nil && (errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "not in bytewise order, so the comparator may be another one: use --comparator")) {
			t.Errorf("Scan = %v, want what it is likely to be", err)
		}
	}
	if _, _, err := f.Verify(nil); err != nil || f.Order != table.AnyOrder || f.OrderNote == "" {
		t.Fatalf("Verify = %v, order %s, note %q; want another order", err, f.Order.Name(), f.OrderNote)
	}
	if err := f.Reader.Verify(); err != nil {
		t.Errorf("Verify = %v", err)
	}
}

// Detecting the order of a small table reads all data blocks. If the order is given, at most three are read.
func TestBlocksReadForTheOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.ldb")
	filetest.WriteTable(t, path, table.WriterOptions{BlockSize: 100, FilterPolicy: filter.NewBloom(10)}, numberedKeys(200)...)
	data := open(t, path, dbfile.Options{}).Layout.Data
	end := data[len(data)-1].Offset
	if len(data) < 10 {
		t.Fatalf("%d data blocks, want more", len(data))
	}
	const most = 3
	for name, tt := range map[string]struct {
		order       dbfile.Order
		least, most int
	}{
		"detected": {dbfile.Order{}, len(data), len(data) + most},
		"given":    {dbfile.ExplicitOrder(table.BytewiseComparer), 1, most},
	} {
		var opened []*offsets
		o := recorded(&opened, false).Options
		o.Order = tt.order
		open(t, path, o)
		n := 0
		for offset, times := range opened[0].reads {
			if offset <= end {
				n += times
			}
		}
		if n < tt.least || n > tt.most {
			t.Errorf("%s: %d data blocks are read, want %d to %d", name, n, tt.least, tt.most)
		}
	}
}
