package database

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/table"
)

// GetMany gets the values of many keys, in any order. It looks the keys up in their order, as Get does,
// o.Concurrency keys at a time. It has the form of [table.GetMany]: it calls found(i, value) for each
// keys[i] that the View has, also if keys has the same key several times, and does not report absent
// keys. The calls come in no order. They do not overlap, since found runs on the goroutine of the
// caller. Values are as those of Get. An error of found ends GetMany, which returns it. If o is nil,
// all options are the defaults. o.Gap has no effect.
//
// Other errors leave only their keys without an answer, which o.NoAnswer tells from absent ones.
// GetMany returns all errors, each once, joined as by errors.Join. If ctx is done, GetMany returns its
// error when the reads have ended that run. keys must not change until GetMany returns.
func (v View) GetMany(
	ctx context.Context, keys [][]byte, o *table.GetManyOptions, found func(i int, value []byte) error,
) error {
	var opts table.GetManyOptions
	if o != nil {
		opts = *o
	}
	if err := table.GetMany(ctx, nil, nil, o, nil); err != nil { // it checks the options
		return err
	}
	b := batch{View: v, o: opts, keys: keys, found: found, failed: map[string]bool{}}
	if err := b.run(ctx); err != nil {
		return err
	}
	return errors.Join(b.errs...)
}

// A batch is one call of GetMany.
type batch struct {
	View
	o      table.GetManyOptions
	keys   [][]byte
	found  func(i int, value []byte) error
	errs   []error         // why keys have no answer
	failed map[string]bool // the messages of errs
}

// run looks all keys up. The error that it returns ends the batch.
func (b *batch) run(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	answers := b.start(inner)
	defer func() { // also if found panics
		cancel()
		for range answers {
		}
	}()
	for part := range answers {
		if part.panicked != nil {
			panic(part.panicked)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, a := range part.answers {
			if err := b.take(a); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// A part is what a goroutine looks up before it hands over the answers.
type part struct {
	answers  []answer // in the order of the keys
	panicked any      // what a Comparer or a source has panicked with
}

// An answer is what the lookup of a key returns.
type answer struct {
	key   int
	value []byte
	err   error
}

const (
	partLen            = 16
	defaultConcurrency = 16
)

// start looks the keys up in other goroutines, in parts. It returns the channel of the parts, which is
// closed when all goroutines have ended. They end soon when ctx is done.
func (b *batch) start(ctx context.Context) <-chan part {
	numbers := make([]int, len(b.keys))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortFunc(numbers, func(i, j int) int { return b.order.Compare(b.keys[i], b.keys[j]) })
	parts, answered := slices.Collect(slices.Chunk(numbers, partLen)), make(chan part)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(parts), cmp.Or(b.o.Concurrency, defaultConcurrency)) {
		workers.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(parts)) && ctx.Err() == nil; n = next.Add(1) - 1 {
				answered <- b.lookUp(ctx, parts[n])
			}
		})
	}
	go func() {
		workers.Wait()
		close(answered)
	}()
	return answered
}

// lookUp looks up the keys of a part.
func (b *batch) lookUp(ctx context.Context, keys []int) (p part) {
	defer func() { p.panicked = recover() }()
	for _, i := range keys {
		l := newLookup(b.View, b.keys[i])
		l.ctx, l.o.DontFillCache = ctx, b.o.DontFillCache
		value, err := l.get()
		l.end()
		p.answers = append(p.answers, answer{i, value, err})
	}
	return p
}

// take takes the answer for a key. The error that it returns is that of found.
func (b *batch) take(a answer) error {
	switch {
	case a.err == nil:
		return b.found(a.key, a.value)
	case errors.Is(a.err, table.ErrNotFound):
		return nil
	}
	if message := a.err.Error(); !b.failed[message] {
		b.failed[message] = true
		b.errs = append(b.errs, a.err)
	}
	if b.o.NoAnswer != nil {
		b.o.NoAnswer(a.key, a.err)
	}
	return nil
}
