package set_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A changing is a set of two tables in a directory. If only one file may be open, each lookup of "other" closes
// the file of "t".
type changing struct {
	t   *testing.T
	dir string
	set *set.Set

	written time.Time // of the last file written
}

func newChanging(t *testing.T, o set.Options, contents []byte, line set.Table) *changing {
	c := &changing{t: t, dir: t.TempDir(), written: time.Now()}
	src := newStore()
	other := src.put(t, "other", filtered, [][2]string{{"other", "value"}})
	c.replace(contents)
	src.writeTo(t, c.dir, manifestOf(line, other))
	t.Cleanup(func() { checkNoFiles(t, c.dir) })
	c.set = openDir(t, c.dir, &o)
	return c
}

// replace replaces t by another file with a later time, since a file system's clock can be too slow for a test.
func (c *changing) replace(contents []byte) {
	c.written = c.written.Add(time.Second)
	next := filepath.Join(c.dir, "next")
	if err := errors.Join(
		os.WriteFile(next, contents, 0o666),
		os.Chtimes(next, c.written, c.written),
		rename(next, filepath.Join(c.dir, "t")),
	); err != nil {
		c.t.Error(err)
	}
}

// get looks up a key of t after its file was closed.
func (c *changing) get(k string) (string, error) {
	if _, err := c.set.Get(background, []byte("other")); err != nil {
		c.t.Error(err)
	}
	value, err := c.set.Get(background, []byte(k))
	return string(value), err
}

// A file that was replaced while closed is noticed when it is opened again. If it is the same table, lookups
// continue; otherwise they do once the right one is back.
func TestFileIsReplacedWhileItIsClosed(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]set.Options{
		"read":                   {MaxOpenFiles: 1},
		"mapped for each lookup": {MaxOpenFiles: 1, MemorySize: 1, Reader: table.ReaderOptions{Mapped: true}},
	} {
		t.Run(name, func(t *testing.T) { testReplacedFiles(t, o) })
	}
}

func testReplacedFiles(t *testing.T, o set.Options) {
	for name, write := range map[string]func(t *testing.T, value string) ([]byte, set.Table){
		"with a digest": writtenTable, "without": describedTable,
	} {
		one, line := write(t, "one")
		two, _ := write(t, "two")
		for what, test := range map[string]struct {
			contents []byte
			want     error // of the third lookup
		}{
			"a copy":       {one, nil},
			"other values": {two, set.ErrMismatch},
			"half of it":   {one[:len(one)/2], set.ErrMismatch},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				c := newChanging(t, o, one, line)
				if got, err := c.get(key(7)); got != "one" {
					t.Fatalf("Get = %q, %v", got, err)
				}
				c.replace(test.contents)
				if got, err := c.get(key(8)); !o.Reader.Mapped && !errors.Is(err, set.ErrReplaced) {
					t.Errorf("Get = %q, %v; want ErrReplaced", got, err)
				}
				want := test.want
				if name == "without" && what != "half of it" {
					want = set.ErrReplaced // the table cannot be identified
				}
				if got, err := c.get(key(8)); !errors.Is(err, want) {
					t.Errorf("Get = %q, %v; want %v", got, err, want)
				}
				c.replace(one)
				c.get(key(8)) // notices it
				if got, err := c.get(key(8)); name == "with a digest" && got != "one" || name == "without" && !errors.Is(err, set.ErrReplaced) {
					t.Errorf("put back: Get = %q, %v", got, err)
				}
			})
		}
	}
}

// If a file is missing when it is opened again, lookups fail until it is back.
func TestFileIsMissingWhileItIsClosed(t *testing.T) {
	t.Parallel()
	one, line := writtenTable(t, "one")
	c := newChanging(t, set.Options{MaxOpenFiles: 1}, one, line)
	c.get(key(7))
	c.get("other")
	noError(t, os.Remove(filepath.Join(c.dir, "t")))
	checkGetFails(t, c.set, key(7), fs.ErrNotExist)
	c.replace(one)
	c.get(key(7)) // notices that it is another file
	checkGet(t, c.set, key(7), "one")
}

// While concurrent lookups run, all results come from the set's own table, whatever replaces it. Once the table is
// back, lookups succeed after an error or two.
func TestAnswersWhileFilesAreReplaced(t *testing.T) {
	t.Parallel()
	one, line := writtenTable(t, "one")
	two, _ := writtenTable(t, "two")
	for seed := range uint64(rounds(8, 200)) {
		rng := rand.New(rand.NewPCG(28, seed))
		o := set.Options{MaxOpenFiles: 1, MemorySize: rng.Int64N(3) * 2000, Reader: table.ReaderOptions{Cache: table.NewCache(int64(1000 << rng.IntN(8)))}}
		o.Reader.Mapped = rng.IntN(2) == 0
		c := newChanging(t, o, one, line)
		var lookups sync.WaitGroup
		for g := range 4 {
			rng := rand.New(rand.NewPCG(seed, uint64(g)))
			lookups.Go(func() {
				for range 300 {
					k := key(rng.IntN(perTable))
					if got, err := lookUp(background, c.set, rng.IntN(3), k); err == nil && got != "one" {
						t.Errorf("seed %d: %s = %q, want one", seed, k, got)
					}
					c.get("other")
				}
			})
		}
		for range 50 {
			c.replace([][]byte{one, two, one[:rng.IntN(len(one))]}[rng.IntN(3)])
		}
		lookups.Wait()
		c.replace(one)
		var failed []error
		for i := range 10 {
			if got, err := c.get(key(i)); err != nil || got != "one" {
				failed = append(failed, fmt.Errorf("%q, %w", got, err))
			}
		}
		if len(failed) > 2 {
			t.Errorf("seed %d: lookups fail though the table is back: %v", seed, errors.Join(failed...))
		}
	}
}

// flipped returns the contents of a table with a corrupt first data block.
func flipped(contents []byte) []byte {
	contents = bytes.Clone(contents)
	contents[0] ^= 1
	return contents
}

// After Verify has found a corrupt table, and its file is put back, Verify and lookups read the new file.
func TestVerifyAfterFileIsPutBack(t *testing.T) {
	t.Parallel()
	one, line := writtenTable(t, "one")
	for name, mapped := range map[string]bool{"read": false, "mapped": true} {
		for what, contents := range map[string][]byte{"cut": one[:len(one)/2], "corrupt data block": flipped(one)} {
			t.Run(name+", "+what, func(t *testing.T) {
				c := newChanging(t, set.Options{Reader: table.ReaderOptions{Mapped: mapped}}, contents, line)
				if err := c.set.Verify(background, nil); !errors.Is(err, set.ErrMismatch) {
					t.Errorf("Verify = %v, want ErrMismatch", err)
				}
				c.replace(one)
				noError(t, c.set.Verify(background, nil))
				checkGet(t, c.set, key(7), "one")
			})
		}
	}
}

// After a lookup has met a corrupt block, or an Iter has gone past one, and the file is put back, lookups read the new
// file: of a mapped table, which is among Unavailable until then, after Reopen.
func TestLookupAfterFileIsPutBack(t *testing.T) {
	t.Parallel()
	one, line := writtenTable(t, "one")
	get := func(t *testing.T, s *set.Set) { checkGetFails(t, s, key(7), table.ErrCorrupt) }
	iterate := func(skips bool) func(*testing.T, *set.Set) {
		return func(t *testing.T, s *set.Set) {
			losses := 0
			it := s.NewIter(background, &table.IterOptions{OnLoss: func(table.Loss) bool { losses++; return skips }})
			it.First()
			it.SeekGE([]byte(key(perTable - 1))) // in the same table
			if err := it.Close(); err != nil || losses == 0 {
				t.Errorf("Close = %v after %d losses, want nil after some", err, losses)
			}
		}
	}
	for name, test := range map[string]struct {
		meet   func(*testing.T, *set.Set)
		mapped bool
	}{
		"Get": {get, false}, "Get, mapped": {get, true},
		"Iter with OnLoss": {iterate(true), false}, "Iter that moves on": {iterate(false), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChanging(t, set.Options{Reader: table.ReaderOptions{Mapped: test.mapped}}, flipped(one), line)
			test.meet(t, c.set)
			if test.mapped && runtime.GOOS != "windows" {
				checkUnavailable(t, c.set, table.ErrCorrupt, "t")
			} else {
				checkUnavailable(t, c.set, nil) // only a block is corrupt
			}
			c.replace(one)
			noError(t, c.set.Reopen(background))
			if _, err := c.set.Get(background, []byte(key(7))); err != nil && !errors.Is(err, set.ErrReplaced) {
				t.Error(err)
			}
			checkGet(t, c.set, key(7), "one")
			checkUnavailable(t, c.set, nil)
		})
	}
}

// A table that could not be identified if it were opened again stays open after a lookup has met a corrupt block.
func TestCorruptTableThatCannotBeIdentified(t *testing.T) {
	t.Parallel()
	for _, cache := range []*table.Cache{nil, table.NewCache(1 << 20)} {
		one, line := describedTable(t, "one")
		c := newChanging(t, set.Options{Reader: table.ReaderOptions{Cache: cache}}, flipped(one), line)
		for range 2 {
			checkGet(t, c.set, key(perTable-1), "one")
			checkGetFails(t, c.set, key(0), table.ErrCorrupt)
			c.replace(one)
		}
	}
}

// A table that could not be opened is found once its file is put back, also if it cannot be identified.
func TestOpenAfterFileIsPutBack(t *testing.T) {
	t.Parallel()
	one, line := describedTable(t, "one")
	c := newChanging(t, set.Options{}, one[:len(one)/2], line)
	checkGetFails(t, c.set, key(0), set.ErrMismatch)
	c.replace(one)
	checkGet(t, c.set, key(0), "one")
}
