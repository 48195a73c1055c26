package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// GetManyOptions are options of GetMany. A value out of range is an error.
type GetManyOptions struct {
	// Concurrency is the number of concurrent reads, 1 to 1024. Zero means 16.
	Concurrency int

	// Gap is the number of bytes between data blocks that one read may span, such as 64 KiB for an object store. A
	// read of several blocks has at most 1 MiB. Zero means none.
	Gap int

	// If DontFillCache is set, blocks are not added to the Cache.
	DontFillCache bool

	// If NoAnswer is not nil, it is called with the error for each keys[i] whose lookup failed. If GetMany ends
	// early, keys without a call of found or NoAnswer are unknown too; otherwise they are absent.
	NoAnswer func(i int, err error)
}

const (
	defaultConcurrency = 16
	maxConcurrency     = 1024
)

// withDefaults returns a copy with defaults filled in.
func (o *GetManyOptions) withDefaults() (GetManyOptions, error) {
	b := *cmp.Or(o, &GetManyOptions{})
	if b.Concurrency < 0 || b.Concurrency > maxConcurrency {
		return b, fmt.Errorf("table: Concurrency is %d, not 0 to %d", b.Concurrency, maxConcurrency)
	}
	if b.Gap < 0 {
		return b, fmt.Errorf("table: Gap is %d (minimum 0)", b.Gap)
	}
	b.Concurrency = cmp.Or(b.Concurrency, defaultConcurrency)
	return b, nil
}

// GetMany looks up many keys with few reads: it reads a block once, neighbors together, and several at a time. Use it
// if reads are slow, or with a large Cache; otherwise Get is faster. In a mapped file or a table in memory, it reads a
// block per key, as Get does. Like Get, it finds whole keys, not user keys. If o is nil, the defaults are used.
//
// It calls found(i, value) for each keys[i] in the table, in any order, on the caller's goroutine. Values stay valid
// and must not be modified, as for Get. An error of found ends it. keys must not change meanwhile. Lookups fail if
// their data block is corrupt; an I/O error or a done ctx ends GetMany. The errors are joined: see
// [GetManyOptions].NoAnswer.
func (r *Reader) GetMany(
	ctx context.Context, keys [][]byte, o *GetManyOptions, found func(i int, value []byte) error,
) error {
	return GetMany(ctx, keys, []GetManyPart{{Reader: r}}, o, found)
}

// A GetManyPart selects the keys of a batch to look up in one table.
type GetManyPart struct {
	Reader *Reader // of the table

	// Keys are the indexes of the keys to look up; nil means all. They must not change until GetMany returns.
	Keys []int
}

// GetMany is [Reader.GetMany] for several tables, with Concurrency reads over all of them. A key in several tables is
// found several times. An I/O error ends only the lookups in its table. A part without Reader, or an index out of
// range, is an error.
func GetMany(
	ctx context.Context, keys [][]byte, parts []GetManyPart, o *GetManyOptions, found func(i int, value []byte) error,
) error {
	opts, err := o.withDefaults()
	if err != nil {
		return err
	}
	b := batch{o: opts, keys: keys, found: found, parts: make([]tableBatch, 0, len(parts))}
	if err := b.addParts(parts); err != nil {
		return err
	}
	for i := range b.parts {
		if err := b.parts[i].open(ctx); err != nil {
			return err
		}
	}
	if err := b.doRuns(ctx); err != nil { // of filter pages
		return err
	}
	var memory [stageSize]wantedKey
	stage := memory[:0]
	for i := range b.parts {
		if stage, err = b.parts[i].lookUp(ctx, stage); err != nil {
			return err
		}
	}
	if err := b.answerStage(ctx, stage); err != nil {
		return err
	}
	for i := range b.parts {
		b.parts[i].addRuns(b.parts[i].wanted, tablefile.DataBlock)
	}
	if err := b.doRuns(ctx); err != nil {
		return err
	}
	return errors.Join(b.failed...)
}

// addParts adds parts, which must have a Reader and indexes of keys.
func (b *batch) addParts(parts []GetManyPart) error {
	var all []int // shared, since many parts can be about many keys
	for i, part := range parts {
		if part.Reader == nil {
			return fmt.Errorf("table: part %d of the batch has no Reader", i)
		}
		if part.Keys == nil && all == nil {
			all = make([]int, len(b.keys))
			for key := range all {
				all[key] = key
			}
		}
		if part.Keys == nil {
			part.Keys = all
		}
		for _, key := range part.Keys {
			if key < 0 || key >= len(b.keys) {
				return fmt.Errorf("table: part %d of the batch has key number %d, not one of %d keys (counted from 0)", i, key, len(b.keys))
			}
		}
		b.parts = append(b.parts, tableBatch{batch: b, GetManyPart: part, noFill: b.o.DontFillCache || part.Reader.lookups.NoFill})
	}
	return nil
}

// stageSize is the number of keys of a batch that are looked up together. Each step is done for all of them before
// the next step. In a step, no key depends on another one, so the processor fetches the memory of several at the
// same time. Before a step that does much for each key, another step does nothing but read that memory.
const stageSize = 64

// A batch is one call of GetMany.
type batch struct {
	o     GetManyOptions
	keys  [][]byte
	found func(i int, value []byte) error

	parts  []tableBatch
	runs   []run   // reads that have not started
	failed []error // why lookups failed

	fetched uint32 // a sum of bytes that were only read to load the processor's caches

	// For keys that are checked in the table filter together:
	filterKeys [stageSize][]byte
	mayContain [stageSize]bool
}

// A tableBatch is the part of a batch for one table.
type tableBatch struct {
	*batch
	GetManyPart
	t      *openTable // nil if the part has no keys, or the table could not be opened
	noFill bool       // do not add blocks to the Cache

	passed    []int           // keys that pages of the filter have not ruled out; nil if it has no pages
	unchecked map[int]bool    // keys in passed for which no page was consulted
	wanted    []wantedKey     // keys whose data blocks have to be read
	ended     error           // why the remaining lookups fail; also in failed
	reported  map[int64]error // errors in failed, by the offset of their block; -1 for the whole table
}

// A wantedKey is a key of a batch whose lookup is in progress.
type wantedKey struct {
	number int         // of the key in the batch
	part   *tableBatch // the table that it is looked up in

	block         int // the only data block, or earlier the only filter page, that can contain it
	filterChecked bool
	cached        *rowblock.Cached // the entries of that block, if the Cache has them
}

// endFrom ends the part with an error. The lookups of its keys from index first on fail.
func (p *tableBatch) endFrom(first int, err error) {
	if !errors.Is(p.ended, err) { // else the read of a page has met it
		p.failed = append(p.failed, err)
	}
	p.ended = err
	for _, number := range p.Keys[first:] {
		p.noAnswer(err, wantedKey{number: number})
	}
}

// fail ends the lookups of keys with err. GetMany returns one error for each corrupt block, and one for a
// filter-only table.
func (p *tableBatch) fail(err error, keys ...wantedKey) {
	offset := int64(-1)
	damage, damaged := err.(*CorruptionError)
	if damaged {
		offset = damage.Offset
	}
	before := p.reported[offset]
	if before != nil && (damaged || err == ErrFilterOnly) {
		p.noAnswer(before, keys...)
		return
	}
	if p.reported == nil {
		p.reported = map[int64]error{}
	}
	p.reported[offset] = err
	p.failed = append(p.failed, err)
	p.noAnswer(err, keys...)
}

// noAnswer calls NoAnswer for keys, if it is set.
func (b *batch) noAnswer(err error, keys ...wantedKey) {
	if b.o.NoAnswer == nil {
		return
	}
	for _, k := range keys {
		b.o.NoAnswer(k.number, err)
	}
}

// open opens the part's table, unless it has no keys: that can take reads. It adds the reads of filter pages. An error
// ends the batch.
func (p *tableBatch) open(ctx context.Context) error {
	if len(p.Keys) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := p.Reader.table()
	if err != nil {
		p.endFrom(0, err)
		return nil
	}
	if p.t = t; t.sieve.Pages != nil && !t.file.HandsOut() { // else lookups of single keys read nothing
		p.addPageRuns()
	}
	return nil
}

// lookUp looks up the part's keys in filters and index. It adds those that may be in a data block to the stage,
// which all parts share, passes a full stage to answerStage, and returns the rest. An error ends the batch.
func (p *tableBatch) lookUp(ctx context.Context, stage []wantedKey) (rest []wantedKey, err error) {
	if p.t == nil {
		return stage, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.t.file.HandsOut() {
		return stage, p.getEach(ctx)
	}
	if p.passed != nil {
		slices.Sort(p.passed)
		p.Keys = p.passed
	}
	for first := 0; first < len(p.Keys); first += stageSize {
		n := min(stageSize, len(p.Keys)-first)
		count := n
		if p.passed != nil { // addPageRuns has counted them
			count = 0
		}
		if err := p.t.startLookups(count, exact); err != nil {
			p.endFrom(first, err)
			return stage, nil
		}
		if len(stage)+n > stageSize {
			if err := p.answerStage(ctx, stage); err != nil {
				return nil, err
			}
			stage = stage[:0]
		}
		stage = p.locate(p.Keys[first:first+n], stage)
	}
	return stage, nil
}
