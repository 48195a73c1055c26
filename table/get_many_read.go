package table

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
)

// maxRun is the most bytes of a read of several data blocks.
const maxRun = 1 << 20

// A wantedKey is a key of a batch that a read has to answer.
type wantedKey struct {
	key           int // its number in the batch
	block         int // the only data block that can have it
	filterChecked bool
}

// A run is wanted keys whose data blocks are read by one read.
type run struct {
	keys       []wantedKey // in the order of their blocks
	start, end uint64      // of the read
}

// A readRun is a run whose read has ended.
type readRun struct {
	run
	ahead    readAhead
	err      error
	panicked any // what the source panicked with
}

// readWanted answers the wanted keys. It starts goroutines that read, and does all else
// itself. When it returns early, the goroutines end as soon as the source does.
func (b *batch) readWanted(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	runs := b.runs()
	done := make(chan readRun, b.o.Concurrency) // no goroutine waits to send
	for running := 0; ; running-- {
		for ; running < b.o.Concurrency && len(runs) > 0; running++ {
			go b.r.readRun(ctx, runs[0], done)
			runs = runs[1:]
		}
		if running == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case read := <-done:
			again, err := b.endRun(ctx, &read)
			if err != nil {
				return err
			}
			runs = append(runs, again...)
		}
	}
}

// runs returns the runs of the wanted keys, in the order of the file.
func (b *batch) runs() (runs []run) {
	slices.SortFunc(b.wanted, func(x, y wantedKey) int {
		return cmp.Or(cmp.Compare(x.block, y.block), cmp.Compare(x.key, y.key))
	})
	for keys := range byBlock(b.wanted) {
		next := b.r.runOf(keys)
		if n := len(runs); n > 0 && next.start-runs[n-1].end <= uint64(b.o.Gap) && next.end-runs[n-1].start <= maxRun {
			last := &runs[n-1]
			last.keys, last.end = last.keys[:len(last.keys)+len(keys)], next.end
		} else {
			runs = append(runs, next)
		}
	}
	return runs
}

// byBlock yields the keys of each data block.
func byBlock(keys []wantedKey) iter.Seq[[]wantedKey] {
	return func(yield func([]wantedKey) bool) {
		for first, i := 0, 1; i <= len(keys); i++ {
			if i == len(keys) || keys[i].block != keys[first].block {
				if !yield(keys[first:i]) {
					return
				}
				first = i
			}
		}
	}
}

// runOf returns the run of keys that are all of one data block.
func (r *Reader) runOf(keys []wantedKey) run {
	start, end := r.readSpan(r.index.handles[keys[0].block])
	return run{keys, start, end}
}

// readRun reads a run and sends the result to done.
func (r *Reader) readRun(ctx context.Context, x run, done chan<- readRun) {
	read := readRun{run: x}
	defer func() {
		read.panicked = recover()
		done <- read
	}()
	read.err = read.ahead.fill(ctx, r, x.start, x.end)
}

// endRun answers the keys of a run. If the read of several data blocks has failed, it returns
// a run for each instead: then only the keys of a block that cannot be read stay without an
// answer, and the error is about that block.
func (b *batch) endRun(ctx context.Context, read *readRun) (again []run, err error) {
	if read.panicked != nil {
		panic(read.panicked)
	}
	first, last := read.keys[0].block, read.keys[len(read.keys)-1].block
	if read.err != nil && (first == last || ctx.Err() != nil) {
		b.r.countRead(b.r.index.handles[first])
		return nil, read.err
	}
	for keys := range byBlock(read.keys) {
		if read.err != nil {
			again = append(again, b.r.runOf(keys))
		} else if err := b.getFromBlock(keys, read.ahead); err != nil {
			return nil, err
		}
	}
	return again, nil
}

// getFromBlock answers keys that are all of one data block, which ahead has. The error is that
// of found.
func (b *batch) getFromBlock(keys []wantedKey, ahead readAhead) error {
	var d dataBlock
	defer d.release()
	if err := d.openRead(b.r, keys[0].block, ahead); err != nil {
		b.failed = append(b.failed, err)
		return nil
	}
	for _, k := range keys {
		value, err := d.lookup(b.r, b.keys[k.key], k.filterChecked)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			b.failed = append(b.failed, err)
			return nil
		}
		if err := b.found(k.key, d.keepValue(value)); err != nil {
			return err
		}
	}
	return nil
}
