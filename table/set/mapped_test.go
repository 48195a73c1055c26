//go:build unix

package set_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// randomTables writes a set with random options into a directory, and returns a manifest that has some more of its
// tables. It uses keys of numbers below n.
func randomTables(t *testing.T, rng *rand.Rand, dir string) (m, next *set.Manifest, n int) {
	t.Helper()
	o := randomOptions(rng)
	o.FilterOnly = o.FilterPolicy == nil && o.TableFilterPolicy != nil && rng.IntN(2) == 0
	tables, keys := 2+rng.IntN(6), 1+rng.IntN(60)
	next = writeTables(t, dir, o, tables, keys)
	m = manifestOf(next.Tables[:1+rng.IntN(tables)]...)
	putManifest(t, dir, m)
	return m, next, tables * keys
}

// An answer is the result of looking up a key in a set.
type answer struct {
	Value      string
	Error      string
	MayContain bool
}

// answers looks up present and absent keys of the numbers below n.
func answers(t *testing.T, s *set.Set, n int) (all []answer) {
	t.Helper()
	var keys [][]byte
	for i := range n {
		keys = append(keys, []byte(key(i)), []byte(key(i)+"x"))
	}
	many, err := getMany(background, s, keys, nil)
	for _, k := range keys {
		value, getErr := s.Get(background, k)
		may, mayErr := s.MayContain(background, k)
		if mayErr != nil || many[string(k)] != string(value) || errors.Is(getErr, table.ErrFilterOnly) && err == nil {
			t.Errorf("%s: Get = %q, %v; MayContain: %v; GetMany: %q, %v", k, value, getErr, mayErr, many[string(k)], err)
		}
		all = append(all, answer{string(value), fmt.Sprint(getErr), may})
	}
	return all
}

// A set with mapped tables returns the same results as one that reads them, even while manifests are swapped.
func TestMappedSet(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(12, 60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { testMappedSet(t, seed) })
	}
}

func testMappedSet(t *testing.T, seed uint64) {
	rng, dir := rand.New(rand.NewPCG(33, seed)), t.TempDir()
	m, next, n := randomTables(t, rng, dir)
	o := set.Options{OpenAll: rng.IntN(2) == 0, MaxOpenFiles: 1 + rng.IntN(3), MemorySize: []int64{0, 1, 5000}[rng.IntN(3)]}
	if rng.IntN(2) == 0 {
		o.Reader.Cache = table.NewCache(int64(1000 << rng.IntN(10)))
	}
	read := openDir(t, dir, &o)
	o.Reader.Mapped = true
	mapped := openDir(t, dir, &o)
	few := answers(t, read, n)
	checkDiff(t, "answers of read and mapped tables", few, answers(t, mapped, n))
	noError(t, read.Swap(background, next))
	all := answers(t, read, n)
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := range 5 { // next is the last one
			if err := mapped.Swap(background, []*set.Manifest{next, m}[i%2]); err != nil {
				t.Error(err)
			}
			runtime.GC() // unmaps unused files
		}
	})
	for range 5 * n {
		i := rng.IntN(n)
		got, err := mapped.Get(background, []byte(key(i)))
		if want := [2]answer{few[2*i], all[2*i]}; string(got) != want[0].Value && string(got) != want[1].Value {
			t.Errorf("%s during Swap: %q, %v; want one of %+v", key(i), got, err, want)
		}
	}
	swapping.Wait()
	checkDiff(t, "answers of read and mapped tables after Swap", all, answers(t, mapped, n))
	noError(t, mapped.Verify(background, nil))
}

// If a table is cut while it is mapped, lookups fail until it is whole again. Successful lookups return the right
// values.
func TestMappedSetOfFilesThatAreCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(6, 60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { testMappedFilesThatAreCut(t, seed) })
	}
}

func testMappedFilesThatAreCut(t *testing.T, seed uint64) {
	rng, dir := rand.New(rand.NewPCG(34, seed)), t.TempDir()
	o := *filtered
	o.BlockSize, o.Compression = 4096, table.NoCompression
	const keys = 4000
	line := writeTables(t, dir, &o, 1, keys).Tables[0]
	name := filepath.Join(dir, line.Name)
	contents, err := os.ReadFile(name)
	noError(t, err)
	s := openDir(t, dir, &set.Options{
		OpenAll: rng.IntN(2) == 0, MemorySize: rng.Int64N(2), Reader: table.ReaderOptions{Mapped: true},
	})
	it := s.NewIter(background, nil)
	t.Cleanup(func() { it.Close() })
	it.First()
	failed := 0
	for range 20 {
		noError(t, os.Truncate(name, rng.Int64N(line.Size/2)))
		for range 20 {
			k := rng.IntN(keys)
			got, err := s.Get(background, []byte(key(k)))
			if err == nil && string(got) != valueOf(k) || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, set.ErrMismatch) {
				t.Fatalf("Get of key %d = %q, %v", k, got, err)
			}
			if err != nil {
				failed++
			}
			it.SeekGE([]byte(key(k)))
		}
		noError(t, os.WriteFile(name, contents, 0o666))
	}
	if failed == 0 {
		t.Error("no lookup failed")
	}
}

// If a mapped filter cannot be read, MayContain fails, and TryMayContain's result is not known.
func TestMayContainOfAMappedFilterThatIsCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterOnly: true}
	name := filepath.Join(dir, writeTables(t, dir, o, 1, 100).Tables[0].Name)
	s := openDir(t, dir, &set.Options{OpenAll: true, Reader: table.ReaderOptions{Mapped: true}})
	noError(t, os.Truncate(name, 0))
	_, err := s.MayContain(background, []byte(key(50)))
	checkError(t, "MayContain", err, io.ErrUnexpectedEOF, "")
	if may, known := s.TryMayContain([]byte(key(50))); !may || known {
		t.Errorf("TryMayContain = %v, %v, want an answer that is not known", may, known)
	}
	checkUnavailable(t, s, io.ErrUnexpectedEOF, filepath.Base(name))
}

// Filters and indexes of mapped tables are not in memory, and no file stays open.
func TestMappedSetTakesNoMemory(t *testing.T) {
	long.NoRace(t)
	const tables, keys = 100, 9000
	dir := t.TempDir()
	m := writeTables(t, dir, &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}, tables, keys)
	before := filtertest.HeapInUse()
	s := openDir(t, dir, &set.Options{OpenAll: true, Reader: table.ReaderOptions{Mapped: true}})
	for _, line := range m.Tables {
		if may, err := s.MayContain(background, line.Largest); !may || err != nil {
			t.Fatalf("MayContain(%s) = %t, %v; want true", line.Largest, may, err)
		}
	}
	const most = tables * 6000 // a filter has 11,250 bytes
	if taken := filtertest.HeapInUse() - before; taken > most || s.MemorySize() > most {
		t.Errorf("%d tables take %d bytes, and say that they take %d; want ≤ %d", tables, taken, s.MemorySize(), most)
	}
	if n := openFiles(dir); n > 1 { // the directory itself
		t.Errorf("%d files are open, want 1", n)
	}
}
