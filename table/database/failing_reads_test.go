package database_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

var errDisk = errors.New("the disk fails")

// A failingDisk lets one operation fail, once or each time: opening a file, also to list a directory, or reading it.
type failingDisk struct {
	left    int // operations before the first that fails
	forever bool
	failed  string // the operation that fails
}

func (d *failingDisk) fail(op, name string) error {
	if d.left--; d.left == -1 {
		d.failed = op + name
	} else if !d.forever || d.failed != op+name {
		return nil
	}
	return errDisk
}

// Whichever operation of a disk fails, each answer is right or the disk's error, and nothing counts as corrupt or lost.
func TestReadsFail(t *testing.T) {
	t.Parallel()
	for seed := range uint64(long.Rounds(20, 400)) {
		rng := rand.New(rand.NewPCG(seed, 50))
		r := newRandom(rng, 1+rng.IntN(20))
		files := r.build(t)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			checkFailing(t, &checker{rng: rng, order: r.order(), keys: r.keys}, files, asOf(r.writes, internalkey.MaxSequence))
		})
	}
	for name, later := range map[string][][]byte{"an empty log": nil, "a log that goes on": {batch(set("b", 2, "2"))}} {
		var l layout
		l.table(t, 1, set("a", 1, "1"))
		missing, want := l.write(t), model{"a": "1"}
		if l.write(t, later...); later != nil {
			want["b"] = "2"
		}
		delete(l.end(t), missing) // as by goleveldb, since it was empty
		t.Run(name, func(t *testing.T) {
			checkFailing(t, &checker{rng: rand.New(rand.NewPCG(0, 51)), order: l.order(), keys: []string{"a", "b"}}, l.files, want)
		})
	}
}

// checkFailing lets each operation fail that opening and reading the database takes.
func checkFailing(t *testing.T, c *checker, files fs.FS, want model) {
	o := randomOptions(c.rng)
	o.Reader.Cache, o.LazyTables = nil, c.rng.IntN(2) == 0
	for i := 0; ; i++ {
		if o.OnLoss = nil; i&1 == 0 {
			o.OnLoss = func(l table.Loss) bool { t.Errorf("loss %v", l); return true }
		}
		disk := &failingDisk{left: i / 4, forever: i&2 == 0}
		fsys := &openedFS{FS: files,
			before: func(name string) error { return disk.fail("open", name) },
			read:   func(name string) error { return disk.fail("read", name) },
		}
		if db, err := database.OpenFS(fsys, ".", &o); err == nil {
			c.checkFailing(t, db.View, want)
			db.Close() // it was only read
		} else {
			checkDiskError(t, err)
		}
		if n := fsys.open.Load(); n != 0 {
			t.Errorf("%d files are open after Close", n)
		}
		if disk.failed == "" {
			return // all operations succeeded
		}
	}
}

// checkFailing compares what can be read with the model.
func (c *checker) checkFailing(t *testing.T, v database.View, want model) {
	t.Helper()
	for _, key := range c.keys {
		got, err := v.Get([]byte(key))
		if value, there := want[key]; there && err == nil || !there && errors.Is(err, table.ErrNotFound) {
			if string(got) != value {
				t.Errorf("Get(%q) = %q, want %q", key, got, value)
			}
		} else {
			checkDiskError(t, err)
		}
	}
	pairs, err := pairsOf(v.All(nil))
	if diff := tabletest.DiffPairs(want.pairs(c.order, nil), pairs); err != nil {
		checkDiskError(t, err)
	} else if diff != "" {
		t.Errorf("All (-want +got):\n%s", diff)
	}
}

func checkDiskError(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, errDisk) || errors.Is(err, table.ErrCorrupt) || errors.Is(err, table.ErrNotFound) {
		t.Errorf("%v, want an error of the disk", err)
	}
}
