package table

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// getEach looks up the keys one by one, in a source that hands out its bytes: there are no reads to wait for. An
// error ends the batch.
func (p *tableBatch) getEach(ctx context.Context) error {
	lookups := p.Reader.With(ctx).DontFillCache(p.noFill)
	for i, number := range p.Keys {
		value, err := lookups.Get(p.keys[number])
		_, damaged := err.(*CorruptionError)
		switch {
		case err == nil:
			if err := p.found(number, value); err != nil {
				return err
			}
		case err == ErrNotFound:
		case ctx.Err() != nil:
			return ctx.Err()
		case damaged, err == ErrFilterOnly:
			p.fail(err, wantedKey{number: number})
		default:
			p.endFrom(i, err)
			return nil
		}
	}
	return nil
}

// locate adds keys to the stage, unless filters or the index rule them out.
func (p *tableBatch) locate(numbers []int, stage []wantedKey) []wantedKey {
	filterKeys, sieve := p.filterKeys[:len(numbers)], &p.t.sieve
	for i, number := range numbers {
		key := p.keys[number]
		if len(key) > 0 { // load it: it can be anywhere in memory
			p.fetched += uint32(key[0])
		}
		filterKeys[i] = filterKeyOf(p.t.o.FilterKey, key)
	}
	many := sieve.mayContainMany(filterKeys, p.mayContain[:len(numbers)])
	for i, filterKey := range filterKeys {
		k := wantedKey{number: numbers[i], part: p}
		answer, checked := true, p.passed != nil && !p.unchecked[k.number]
		switch {
		case !many && sieve.Table != nil:
			answer, checked = sieve.mayContain(wholeTable, filterKey)
		case many && filterKey != nil: // a nil filter key is in no filter
			answer, checked = sieve.record(p.mayContain[i], true)
		}
		if !answer {
			continue
		}
		block, blockChecked, err := p.t.locate(p.keys[k.number], filterKey)
		switch {
		case err == nil:
			k.block, k.filterChecked = block, checked || blockChecked
			stage = append(stage, k)
		case err != ErrNotFound:
			p.fail(err, k)
		}
	}
	return stage
}

// locate returns the only data block that can contain key, and whether its filter was consulted. If filter or index
// rule key out, it returns ErrNotFound.
func (t *openTable) locate(key, filterKey []byte) (i int, checked bool, err error) {
	if i, err = t.file.Index.Search(key); err != nil {
		return 0, false, err
	}
	if i == t.file.Index.N {
		return 0, false, t.notInIndex()
	}
	mayContain, checked := t.sieve.mayContain(i, filterKey)
	if !mayContain {
		return 0, true, ErrNotFound
	}
	return i, checked, nil
}

// answerStage looks up the keys of the stage whose data blocks are in the Cache, and adds the others to wanted. An
// error ends the batch.
func (b *batch) answerStage(ctx context.Context, stage []wantedKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cached := stage[:0]
	for i := range stage {
		k := &stage[i]
		if k.cached = k.part.t.file.Cached(k.block); k.cached != nil {
			cached = append(cached, *k)
		} else {
			k.part.wanted = append(k.part.wanted, *k)
		}
	}
	for i := range cached {
		b.fetched += cached[i].cached.Fetch()
	}
	for i := range cached {
		k := &cached[i]
		entries := k.cached.Block(*k.part.t.file.Order())
		value, found := entries.Get(b.keys[k.number])
		if !found && k.filterChecked {
			k.part.t.reportMiss(b.keys[k.number], tablefile.ReadOptions{Ctx: ctx, NoFill: k.part.noFill})
		}
		if !found {
			continue
		}
		if err := b.found(k.number, value); err != nil {
			return err
		}
	}
	return nil
}

// maxRun is the maximum size of a read of several data blocks.
const maxRun = 1 << 20

// A run is one read of data blocks or filter pages of a table, and the wanted keys for which it is done.
type run struct {
	part       *tableBatch
	keys       []wantedKey // in the order of their blocks
	kind       tablefile.Kind
	start, end uint64 // of the read

	// After the read:
	ahead    tablefile.Ahead
	err      error
	panicked any // the value of the source's panic
}

// doRuns does the reads of all runs, and looks up their keys. It starts goroutines that only read, and does the rest
// itself. If it returns early, the goroutines end when the source returns.
func (b *batch) doRuns(ctx context.Context) error {
	if len(b.runs) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan run, b.o.Concurrency) // buffered, so that no goroutine waits to send
	for running := 0; running > 0 || len(b.runs) > 0; {
		if running < b.o.Concurrency && len(b.runs) > 0 {
			next := b.runs[0]
			if b.runs = b.runs[1:]; next.part.ended != nil {
				b.noAnswer(next.part.ended, next.keys...)
				continue
			}
			go next.read(ctx, done)
			running++
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case read := <-done:
			running--
			if err := read.answer(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// addRuns adds the runs that read the wanted keys' blocks of a kind, in the order of the file.
func (p *tableBatch) addRuns(wanted []wantedKey, kind tablefile.Kind) {
	slices.SortFunc(wanted, func(x, y wantedKey) int {
		return cmp.Or(cmp.Compare(x.block, y.block), cmp.Compare(x.number, y.number))
	})
	before := len(p.runs)
	for keys := range byBlock(wanted) {
		start, end, err := p.t.file.Span(kind, keys[0].block)
		if err != nil {
			p.fail(err, keys...)
			continue
		}
		if n := len(p.runs); n > before {
			last := &p.runs[n-1]
			if start-last.end <= uint64(p.o.Gap) && end-last.start <= maxRun {
				last.keys, last.end = append(last.keys, keys...), end
				continue
			}
		}
		p.runs = append(p.runs, run{part: p, keys: keys, kind: kind, start: start, end: end})
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

// read reads the run and sends it to done.
func (x run) read(ctx context.Context, done chan<- run) {
	defer func() {
		x.panicked = recover()
		done <- x
	}()
	x.err = x.ahead.Fill(ctx, &x.part.t.file, x.kind, x.start, x.end)
}

// answer looks up the keys of a run. If a read of several data blocks has failed, it adds a run for each of them
// instead, so that only lookups in an unreadable block fail, with an error about that block. An error that answer
// returns ends the batch.
func (x *run) answer(ctx context.Context) error {
	if x.panicked != nil {
		panic(x.panicked)
	}
	p := x.part
	if p.ended != nil {
		p.noAnswer(p.ended, x.keys...)
		return nil
	}
	first, last := x.keys[0].block, x.keys[len(x.keys)-1].block
	switch {
	case x.err == nil:
	case ctx.Err() != nil && x.kind == tablefile.TableFilterBlock:
		return ctx.Err()
	case first != last && ctx.Err() == nil:
		x.split()
		return nil
	case x.kind == tablefile.TableFilterBlock:
		p.noPage(x.err, x.keys)
		return nil
	default:
		if h, err := p.t.file.Index.Handle(first); err == nil {
			p.t.file.CountRead(h)
		}
		p.ended = x.err
		p.fail(x.err, x.keys...)
		return ctx.Err()
	}
	for keys := range byBlock(x.keys) {
		if x.kind == tablefile.TableFilterBlock {
			p.checkPageRun(keys, x.ahead)
		} else if err := p.getFromBlock(ctx, keys, x.ahead); err != nil {
			return err
		}
	}
	return nil
}

// split adds a run for each data block or page of a run whose read has failed.
func (x *run) split() {
	for keys := range byBlock(x.keys) {
		one := *x
		one.keys, one.err = keys, nil
		one.start, one.end, _ = x.part.t.file.Span(x.kind, keys[0].block) // addRuns has checked it
		x.part.runs = append(x.part.runs, one)
	}
}

// getFromBlock looks up keys in their common data block, which ahead has read. It returns an error of found.
func (p *tableBatch) getFromBlock(ctx context.Context, keys []wantedKey, ahead tablefile.Ahead) error {
	var block tablefile.Block
	defer block.Release()
	if err := block.OpenAhead(&p.t.file, keys[0].block, ahead, p.noFill); err != nil {
		p.fail(err, keys...)
		return nil
	}
	block.Prepare(len(keys))
	for i, k := range keys {
		value, found, err := block.Get(p.keys[k.number])
		if err != nil {
			p.fail(err, keys[i:]...)
			return nil
		}
		if !found && k.filterChecked {
			p.t.reportMiss(p.keys[k.number], tablefile.ReadOptions{Ctx: ctx, NoFill: p.noFill})
			continue
		}
		if block.Admit(); !found {
			continue
		}
		_, value = block.Keep(nil, value)
		if err := p.found(k.number, value); err != nil {
			return err
		}
	}
	return nil
}
