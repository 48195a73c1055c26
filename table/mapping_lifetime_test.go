//go:build unix

package table_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table"
)

// The file is unmapped when the Reader is closed and nothing uses it, and not before.
func TestMappedFileIsUnmapped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what is mapped is known on Linux")
	}
	pairs := numbered(1000)
	name := writeMapped(t, build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs))
	isMapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(maps, []byte(name))
	}
	r := openMapped(t, name, table.ReaderOptions{})
	it := r.NewIter(nil)
	it.First()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
	}
	if !isMapped() || !bytes.Equal(it.Value(), pairs[0].Value) {
		t.Error("the file is unmapped while an Iter is at an entry")
	}
	for name, err := range map[string]error{
		"Get": errorOf(r.Get(pairs[0].Key)), "Verify": r.Verify(), "FilterErr": r.FilterErr(), "Layout": errorOf(r.Layout()), "Close": r.Close(),
	} {
		if !errors.Is(err, table.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(hang); isMapped() && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	if isMapped() {
		t.Error("the file stays mapped after Close")
	}
	runtime.KeepAlive(r)
}

// Of more files than may be mapped, some are read, with the same answers. When those that are mapped
// are closed, others can be.
func TestTooManyMappedFiles(t *testing.T) {
	pairs := numbered(100)
	name := writeMapped(t, build(t, nil, pairs))
	most := table.Mappings() + 3
	table.SetMaxMappings(t, most)
	for range 3 {
		var all []*table.Reader
		for range 10 {
			r := openMapped(t, name, table.ReaderOptions{})
			checkLookups(t, r, pairs)
			all = append(all, r)
		}
		if n := table.Mappings(); n == 0 || n > most {
			t.Fatalf("%d files are mapped, want 1 to %d", n, most)
		}
		for _, r := range all {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(hang); table.Mappings() > most-3 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			runtime.GC()
		}
	}
	if n := table.Mappings(); n > most-3 {
		t.Errorf("%d files stay mapped after Close, want at most %d", n, most-3)
	}
}

// Close of a mapped Reader while others use it: right answers, then ErrClosed.
func TestMappedReaderIsClosedInUse(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	name := writeMapped(t, build(t, withBloom, pairs))
	for range 20 {
		r := openMapped(t, name, table.ReaderOptions{})
		var users sync.WaitGroup
		var u usage
		for n := range 3 {
			users.Go(func() {
				err := u.untilCut(t, r, pairs, rand.New(rand.NewPCG(31, uint64(n))))
				if !errors.Is(err, table.ErrClosed) {
					t.Errorf("error %v, want ErrClosed", err)
				}
			})
		}
		u.await(100)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		u.cut.Store(true)
		users.Wait()
	}
}
