package table

import (
	"context"

	"github.com/sievetable/sievetable/internal/rowblock"
)

// stageSize is how many keys of a batch are looked up together. Each step is done for all of
// them before the next step. In a step no key depends on another one, so the processor fetches
// the memory of several at the same time. Where a step does much for each key, a step before it
// does nothing but read that memory.
const stageSize = 64

// A wantedKey is a key of a batch on the way to its answer.
type wantedKey struct {
	number int        // of the key in the batch
	part   *partBatch // the table that it is looked up in

	block         int // the only data block that can have it
	filterChecked bool
	cached        *rowblock.Cached // the entries of that block, if the Cache has them
}

// getCached answers keys by filters, index and Cache, and adds those that a read has to answer
// to the wanted keys of their parts. The stages have the keys of all parts, one behind the
// other. The error ends the batch.
func (b *batch) getCached(ctx context.Context, parts []*partBatch) error {
	var memory [stageSize]wantedKey
	stage := memory[:0]
	for _, part := range parts {
		if part.t != nil && part.t.file.HandsOut() {
			if err := part.getEach(ctx); err != nil {
				return err
			}
			continue
		}
		for i := 0; i < part.len() && part.ended == nil; i++ {
			if i%stageSize == 0 && !part.startLookups(i) {
				break
			}
			if stage = append(stage, wantedKey{number: part.number(i), part: part}); len(stage) < stageSize {
				continue
			}
			if err := b.getStage(ctx, stage); err != nil {
				return err
			}
			stage = memory[:0]
		}
	}
	return b.getStage(ctx, stage)
}

// startLookups counts the next lookups of a stage. If there cannot be any, it ends the part and returns
// false.
func (b *partBatch) startLookups(first int) bool {
	err := b.t.startLookups(min(stageSize, b.len()-first))
	if err != nil {
		b.endFrom(first, err)
	}
	return err == nil
}

// getEach answers the keys one by one, from a source that hands out its bytes. A read then takes
// no time to wait for. The error ends the batch.
func (b *partBatch) getEach(ctx context.Context) error {
	lookups := b.r.With(ctx, LookupOptions{DontFillCache: b.o.DontFillCache})
	damaged := map[int64]error{} // of blocks by their offsets; failed has them too
	for i := range b.len() {
		k := wantedKey{number: b.number(i), part: b}
		value, err := lookups.Get(b.keys[k.number])
		damage, _ := err.(*CorruptionError)
		switch {
		case err == nil:
			if err := b.found(k.number, value); err != nil {
				return err
			}
		case err == ErrNotFound:
		case ctx.Err() != nil:
			return ctx.Err()
		case err == ErrFilterOnly:
			b.hide(err, k)
		case damage == nil:
			b.endFrom(i, err)
			return nil
		case damaged[damage.Offset] != nil:
			b.noAnswer(damaged[damage.Offset], k)
		default:
			damaged[damage.Offset] = err
			b.fail(err, k)
		}
	}
	return nil
}

// getStage takes the keys of a stage through all steps. The error ends the batch.
func (b *batch) getStage(ctx context.Context, stage []wantedKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range stage {
		if key := b.keys[stage[i].number]; len(key) > 0 { // it can be anywhere in memory
			b.fetched += uint32(key[0])
		}
	}
	stage = b.findCached(b.locate(stage))
	for i := range stage {
		b.fetched += stage[i].cached.Fetch()
	}
	for i := range stage {
		k, t := &stage[i], stage[i].part.t
		entries := k.cached.Block(*t.file.Order())
		value, found := entries.Get(b.keys[k.number])
		if !found {
			t.countMiss(k.filterChecked)
			continue
		}
		if err := b.found(k.number, value); err != nil {
			return err
		}
	}
	return nil
}

// locate finds the data blocks of the keys, and removes keys that filters or the index rule out. Each step
// returns the keys that the next one is for.
func (b *batch) locate(stage []wantedKey) []wantedKey {
	next := stage[:0]
	for len(stage) > 0 {
		n := 1
		for n < len(stage) && stage[n].part == stage[0].part {
			n++
		}
		next = append(next, stage[0].part.locate(stage[:n])...)
		stage = stage[n:]
	}
	return next
}

// locate does what batch.locate does for keys of the part.
func (b *partBatch) locate(stage []wantedKey) []wantedKey {
	next, sieve := stage[:0], &b.t.sieve
	for i, k := range stage {
		b.filterKeys[i] = filterKeyOf(b.t.o.FilterKey, b.keys[k.number])
	}
	many := sieve.mayContainMany(b.filterKeys[:len(stage)], b.mayContain[:len(stage)])
	for i := range stage {
		k := &stage[i]
		answer, checked := true, false
		switch {
		case !many:
			answer, checked = sieve.mayContain(wholeTable, b.filterKeys[i])
		case b.filterKeys[i] != nil: // no filter has a filter key that is nil
			answer, checked = sieve.record(b.mayContain[i], true)
		}
		if !answer {
			continue
		}
		var err error
		if k.block, k.filterChecked, err = b.t.locate(b.keys[k.number], b.filterKeys[i]); err == nil {
			k.filterChecked = k.filterChecked || checked
			next = append(next, *k)
		} else if err != ErrNotFound {
			b.hide(err, *k)
		}
	}
	return next
}

// locate returns the only data block that can have key, and whether its filter was consulted. The error is ErrNotFound
// if filter or index rule key out.
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

// hide leaves a key without an answer since the index does not tell its data block. GetMany returns one
// such error for each table.
func (b *partBatch) hide(err error, k wantedKey) {
	if b.hidden == nil {
		b.hidden = err
		b.fail(err)
	}
	b.noAnswer(err, k)
}

// findCached finds the keys' data blocks in the Cache. A read has to answer the others.
func (b *batch) findCached(stage []wantedKey) []wantedKey {
	next := stage[:0]
	for i := range stage {
		k := &stage[i]
		if k.cached = k.part.t.file.Cached(k.block); k.cached != nil {
			next = append(next, *k)
		} else {
			k.part.wanted = append(k.part.wanted, *k)
		}
	}
	return next
}
