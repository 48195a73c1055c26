package database_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

var errDisk = errors.New("the disk fails")

// A failingFS is on a disk where one operation fails, once or each time: listing a directory, or opening, examining or
// reading a file.
type failingFS struct {
	fs.FS
	left    int // operations before the first that fails
	forever bool
	failed  fs.PathError // the operation that fails
}

func (f *failingFS) fail(op, name string) error {
	e := fs.PathError{Op: op, Path: name, Err: errDisk}
	if f.left--; f.left == -1 {
		f.failed = e
	} else if !f.forever || f.failed != e {
		return nil
	}
	return &e
}

func (f *failingFS) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(f.FS, name)
	return info, errors.Join(err, f.fail("stat", name))
}

func (f *failingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	return entries, errors.Join(err, f.fail("readdir", name))
}

func (f *failingFS) Open(name string) (fs.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Open(name)
	if r, ok := file.(regular.File); ok && err == nil {
		return &failingFile{r, name, f}, nil
	}
	return file, err
}

type failingFile struct {
	regular.File
	name string
	disk *failingFS
}

func (f *failingFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return info, errors.Join(err, f.disk.fail("stat", f.name))
}

// ReadAt may read a part of p.
func (f *failingFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.disk.fail("read", f.name); err != nil {
		n, _ := f.File.ReadAt(p[:len(p)/2], off)
		return n, err
	}
	return f.File.ReadAt(p, off)
}

// Whichever operation of a disk fails, an answer is right, or an error that names the disk's, which is no corruption
// and no loss.
func TestReadsFail(t *testing.T) {
	t.Parallel()
	for seed := range uint64(long.Rounds(20, 400)) {
		rng := rand.New(rand.NewPCG(seed, 50))
		r := newRandom(rng, 1+rng.IntN(20))
		files := r.build(t)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { checkFailing(t, rng, r.order(), files, asOf(r.writes, internalkey.MaxSequence)) })
	}
	for name, later := range map[string][][]byte{"an empty log": nil, "a log that goes on": {batch(set("b", 2, "2"))}} {
		var l layout
		l.table(t, 1, set("a", 1, "1"))
		missing, want := l.write(t), model{"a": "1"}
		if l.write(t, later...); later != nil {
			want["b"] = "2"
		}
		delete(l.end(t), missing) // as by goleveldb, since it was empty
		t.Run(name, func(t *testing.T) { checkFailing(t, rand.New(rand.NewPCG(0, 51)), l.order(), l.files, want) })
	}
}

// checkFailing lets each operation fail that reading the database takes.
func checkFailing(t *testing.T, rng *rand.Rand, order table.Comparer, files fs.FS, want model) {
	o := randomOptions(rng)
	o.Reader.Cache = nil
	for i := 0; ; i++ {
		o.LazyTables, o.OnLoss = rng.IntN(2) == 0, nil
		if i&1 == 0 {
			o.OnLoss = func(l table.Loss) bool { t.Errorf("loss %v", l); return true }
		}
		disk := &failingFS{FS: files, left: i / 4, forever: i&2 == 0}
		if err := readFailing(t, disk, &o, order, want); err != nil && (!errors.Is(err, errDisk) || errors.Is(err, table.ErrCorrupt)) {
			t.Errorf("%v, want an error of the disk", err)
		}
		if disk.failed.Err == nil {
			return // all operations succeeded
		}
	}
}

// readFailing opens a database and reads all of it.
func readFailing(t *testing.T, disk *failingFS, o *database.Options, order table.Comparer, want model) error {
	t.Helper()
	db, err := database.OpenFS(disk, ".", o)
	if err != nil {
		return err
	}
	defer db.Close() // it was only read
	var failed []error
	for key, value := range want {
		got, err := db.Get([]byte(key))
		if failed = append(failed, err); err == nil && string(got) != value {
			t.Errorf("Get(%q) = %q, want %q", key, got, value)
		}
	}
	pairs, err := pairsOf(db.All(nil))
	if diff := tabletest.DiffPairs(want.pairs(order, nil), pairs); diff != "" && err == nil {
		t.Errorf("All (-want +got):\n%s", diff)
	}
	return errors.Join(append(failed, err)...)
}
