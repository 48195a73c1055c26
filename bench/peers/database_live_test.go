package main

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	goleveldb "github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table/database"
)

// liveKeys is the number of keys that each batch of a countingWriter sets.
const liveKeys = 20

// A countingWriter writes batches to a goleveldb database until it is stopped. Each batch sets all keys to its
// number.
type countingWriter struct {
	*goleveldb.DB
	last, stop atomic.Int64 // number of the last batch written; not 0 to stop
	flush      bool         // after each batch, write a table and begin a new log
}

func (w *countingWriter) write(t *testing.T) {
	for n := int64(1); w.stop.Load() == 0; n++ {
		b := new(goleveldb.Batch)
		for i := range liveKeys {
			b.Put(fmt.Appendf(nil, "key%02d", i), fmt.Appendf(nil, "%d %0*d", n, n%300, 0))
		}
		if err := w.Write(b, nil); err != nil {
			t.Error(err)
			return
		}
		w.last.Store(n)
		if w.flush {
			if err := w.CompactRange(util.Range{}); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// While goleveldb writes, flushes and compacts, each Open returns a consistent snapshot that is at least as new as
// the call. No batch is visible in part.
func TestOpenWhileGoleveldbWrites(t *testing.T) {
	t.Parallel()
	for _, flush := range []bool{false, true} {
		t.Run(fmt.Sprint("flush=", flush), func(t *testing.T) {
			t.Parallel()
			openWhileGoleveldbWrites(t, flush)
		})
	}
}

func openWhileGoleveldbWrites(t *testing.T, flush bool) {
	dir := t.TempDir()
	db, err := goleveldb.OpenFile(dir, &opt.Options{WriteBuffer: 16 << 10, CompactionTableSize: 4 << 10, CompactionTotalSize: 16 << 10})
	noError(t, err)
	defer db.Close()
	w := &countingWriter{DB: db, flush: flush}
	var writing sync.WaitGroup
	writing.Go(func() { w.write(t) })
	defer writing.Wait()
	defer w.stop.Store(1)
	states := map[int64]bool{}
	for len(states) < 50 && !t.Failed() {
		before := w.last.Load()
		shown := readBatch(t, dir)
		if after := w.last.Load() + 1; shown < before || shown > after {
			t.Fatalf("Open reads batch %d, want one from %d to %d", shown, before, after)
		}
		states[shown] = true
	}
	t.Logf("%d states of %d batches", len(states), w.last.Load())
}

// readBatch opens a database whose entries must all be from one batch. It returns the number of that batch, or 0 if
// the database is empty.
func readBatch(t *testing.T, dir string) (n int64) {
	t.Helper()
	db, err := database.Open(dir, nil)
	noError(t, err)
	defer db.Close()
	count := 0
	for e, err := range db.All(nil) {
		number, _, _ := bytes.Cut(e.Value, []byte(" "))
		shown, numberErr := strconv.ParseInt(string(number), 10, 64)
		if err != nil || numberErr != nil || count > 0 && shown != n {
			t.Fatalf("%s is of batch %q, want %d: %v", e.Key, number, n, err)
		}
		n = shown
		if value, err := db.Get(e.Key); err != nil || !bytes.Equal(value, e.Value) {
			t.Fatalf("Get(%s) = %.20q, %v, want %.20q", e.Key, value, err, e.Value)
		}
		count++
	}
	if count != 0 && count != liveKeys {
		t.Fatalf("%d keys, want %d", count, liveKeys)
	}
	return n
}
