package table

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// maxRun is the most bytes of a read of several data blocks.
const maxRun = 1 << 20

// A run is wanted keys whose data blocks are read by one read.
type run struct {
	part       *partBatch
	keys       []wantedKey // in the order of their blocks
	start, end uint64      // of the read
}

// A readRun is a run whose read has ended.
type readRun struct {
	run
	ahead    tablefile.Ahead
	err      error
	panicked any // what the source panicked with
}

// readRuns answers the wanted keys. It starts goroutines that read, and does all else itself.
// When it returns early, the goroutines end as soon as the source does.
func (b *batch) readRuns(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan readRun, b.o.Concurrency) // no goroutine waits to send
	for running := 0; ; running-- {
		for ; running < b.o.Concurrency && b.skipEnded(); running++ {
			go b.runs[0].read(ctx, done)
			b.runs = b.runs[1:]
		}
		if running == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case read := <-done:
			if err := read.answer(ctx); err != nil {
				return err
			}
		}
	}
}

// skipEnded removes runs of parts that have ended from the front, and reports whether there is
// another one.
func (b *batch) skipEnded() bool {
	for len(b.runs) > 0 && b.runs[0].part.ended != nil {
		b.noAnswer(b.runs[0].part.ended, b.runs[0].keys...)
		b.runs = b.runs[1:]
	}
	return len(b.runs) > 0
}

// addRuns adds the runs of the wanted keys, in the order of the file.
func (b *partBatch) addRuns() {
	slices.SortFunc(b.wanted, func(x, y wantedKey) int {
		return cmp.Or(cmp.Compare(x.block, y.block), cmp.Compare(x.number, y.number))
	})
	own := len(b.runs)
	for keys := range byBlock(b.wanted) {
		next, err := b.runOf(keys)
		if err != nil {
			b.fail(err, keys...)
			continue
		}
		n := len(b.runs)
		if n == own || next.start-b.runs[n-1].end > uint64(b.o.Gap) || next.end-b.runs[n-1].start > maxRun {
			b.runs = append(b.runs, next)
			continue
		}
		last := &b.runs[n-1]
		last.keys, last.end = append(last.keys, next.keys...), next.end
	}
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
func (b *partBatch) runOf(keys []wantedKey) (run, error) {
	start, end, err := b.t.file.Span(keys[0].block)
	return run{b, keys, start, end}, err
}

// read reads the run and sends the result to done.
func (x run) read(ctx context.Context, done chan<- readRun) {
	read := readRun{run: x}
	defer func() {
		read.panicked = recover()
		done <- read
	}()
	read.err = read.ahead.Fill(ctx, &x.part.t.file, x.start, x.end)
}

// answer answers the keys of a run. If the read of several data blocks has failed, it adds a run
// for each instead: then only the keys of a block that cannot be read stay without an answer,
// and the error is about that block. The error that answer returns ends the batch.
func (x *readRun) answer(ctx context.Context) error {
	if x.panicked != nil {
		panic(x.panicked)
	}
	b := x.part
	if b.ended != nil {
		b.noAnswer(b.ended, x.keys...)
		return nil
	}
	first, last := x.keys[0].block, x.keys[len(x.keys)-1].block
	if x.err != nil && (first == last || ctx.Err() != nil) {
		if h, err := b.t.file.Index.Handle(first); err == nil {
			b.t.file.CountRead(h)
		}
		b.ended = x.err
		b.fail(x.err, x.keys...)
		return ctx.Err()
	}
	for keys := range byBlock(x.keys) {
		if x.err != nil {
			if next, err := b.runOf(keys); err == nil { // it was no error before
				b.runs = append(b.runs, next)
			}
		} else if err := b.getFromBlock(keys, x.ahead); err != nil {
			return err
		}
	}
	return nil
}

// getFromBlock answers keys that are all of one data block, which ahead has. The error is that
// of found.
func (b *partBatch) getFromBlock(keys []wantedKey, ahead tablefile.Ahead) error {
	var block tablefile.Block
	defer block.Release()
	if err := block.OpenAhead(&b.t.file, keys[0].block, ahead, b.o.DontFillCache); err != nil {
		b.fail(err, keys...)
		return nil
	}
	block.Prepare(len(keys))
	for i, k := range keys {
		value, found, err := block.Get(b.keys[k.number])
		if err != nil {
			b.fail(err, keys[i:]...)
			return nil
		}
		if !found && k.filterChecked {
			b.t.countMiss(true)
			continue
		}
		if block.Admit(); !found {
			continue
		}
		_, value = block.Keep(nil, value)
		if err := b.found(k.number, value); err != nil {
			return err
		}
	}
	return nil
}
