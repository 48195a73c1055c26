package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/rowblock"
)

// GetManyOptions are options of GetMany. The zero value of each field is its default. A value
// out of range is an error of GetMany.
type GetManyOptions struct {
	// Concurrency is how many reads may run at a time, 1 to 1024. 0: 16.
	Concurrency int

	// Gap is how many bytes may be between data blocks that are read by one read. It reads
	// these bytes too. 0: none. For an object store take what it sends in the time that a
	// request takes, such as 64 KiB. A read has at most 1 MiB, whatever Gap says.
	Gap int

	// DontFillCache leaves blocks that are read out of the Cache, as that of Lookups does.
	DontFillCache bool

	// NoAnswer is called for each keys[i] that a table gives no answer for, as found is called for
	// those that it has. err says why, and is one of the errors that GetMany returns. A key of
	// neither call is absent, but for one case: if GetMany ends early, because ctx is done, found
	// has failed or an argument is wrong, then the keys that were not found have no answer. nil:
	// GetMany's error alone says that there are such keys.
	NoAnswer func(i int, err error)
}

const (
	defaultConcurrency = 16
	maxConcurrency     = 1024
)

// withDefaults returns a copy with defaults filled in.
func (o *GetManyOptions) withDefaults() (GetManyOptions, error) {
	var b GetManyOptions
	if o != nil {
		b = *o
	}
	if b.Concurrency < 0 || b.Concurrency > maxConcurrency {
		return b, fmt.Errorf("table: Concurrency is %d, want 0 to %d", b.Concurrency, maxConcurrency)
	}
	if b.Gap < 0 {
		return b, fmt.Errorf("table: Gap is %d, want 0 or more", b.Gap)
	}
	if b.Concurrency == 0 {
		b.Concurrency = defaultConcurrency
	}
	return b, nil
}

// GetMany gets the values of many keys, in any order. It is for a source where each read takes
// long. It reads a data block once, however many of the keys it may have, reads blocks that are
// close together by one read, and has several reads run at a time. From a large Cache it is
// faster than Get. From memory or a local file without a Cache, Get is faster, and of a
// [SliceReaderAt] GetMany gets the keys one by one.
//
// GetMany calls found(i, value) for each keys[i] that the table has, also if keys has the same
// key several times. Keys that are absent are not reported. The calls come in no order. They do
// not overlap, since found runs on the goroutine of the caller. Values are as those of Get. An
// error of found ends GetMany, which returns it. If o is nil, all options are the defaults.
//
// Other errors leave keys without an answer. GetManyOptions.NoAnswer tells these from absent ones:
//
//   - If data blocks are damaged, the keys that they may have get no answer, or only some of
//     them do. All other keys get theirs. GetMany then returns an error for each damaged block,
//     joined as by errors.Join.
//   - An error of the source ends GetMany. If it is of a read of several blocks, they are first
//     read one by one.
//   - If ctx is done, GetMany returns its error at once. Reads that run end when the source ends
//     them, which a [ContextReaderAt] does at once.
//   - If the table has a filter only, keys that it does not rule out get no answer, and the
//     error is ErrFilterOnly.
//
// A read is of one block, or of at most 1 MiB. GetMany takes memory for Concurrency such reads,
// about 100 bytes for each key that a read has to answer, and what Get takes for one key. keys
// must not change until GetMany returns. If the source panics, so does GetMany.
func (r *Reader) GetMany(
	ctx context.Context, keys [][]byte, o *GetManyOptions, found func(i int, value []byte) error,
) error {
	return GetMany(ctx, keys, []GetManyPart{{Reader: r}}, o, found)
}

// A GetManyPart says which keys of a batch GetMany gets from one table.
type GetManyPart struct {
	Reader *Reader // of the table

	// Keys are the indexes of the keys that are looked up in the Reader. If Keys is nil, all keys are. They
	// must not change until GetMany returns.
	Keys []int
}

// GetMany does what [Reader.GetMany] does with the keys of several tables, such as those that
// each have a range of the keys. At most Concurrency reads run at a time, of all the tables
// together. A key that several tables have is found several times.
//
// An error of a source, or a closed Reader, ends only the lookups in that table. A corrupt data block leaves
// its keys without an answer. GetMany goes on with the rest, and returns
// all errors, joined as by errors.Join. A part without a Reader, or with an index that is not one
// of keys, is an error, and then nothing is looked up.
func GetMany(
	ctx context.Context, keys [][]byte, parts []GetManyPart, o *GetManyOptions, found func(i int, value []byte) error,
) error {
	opts, err := o.withDefaults()
	if err == nil {
		err = checkParts(keys, parts)
	}
	if err != nil {
		return err
	}
	b := batch{o: opts, keys: keys, found: found, parts: make([]tableBatch, len(parts))}
	var memory [stageSize]wantedKey
	stage := memory[:0]
	for i, part := range parts {
		b.parts[i] = tableBatch{batch: &b, GetManyPart: part}
	}
	if err := b.askPages(ctx); err != nil {
		return err
	}
	for i := range parts {
		if stage, err = b.parts[i].lookUp(ctx, stage); err != nil {
			return err
		}
	}
	if err := b.answerStage(ctx, stage); err != nil {
		return err
	}
	if err := b.readWanted(ctx); err != nil {
		return err
	}
	return errors.Join(b.failed...)
}

// checkParts checks that each part has a Reader, and indexes of keys.
func checkParts(keys [][]byte, parts []GetManyPart) error {
	for i, part := range parts {
		if part.Reader == nil {
			return fmt.Errorf("table: part %d of the batch has no Reader", i)
		}
		for _, key := range part.Keys {
			if key < 0 || key >= len(keys) {
				return fmt.Errorf("table: part %d of the batch has key number %d, want 0 to %d", i, key, len(keys)-1)
			}
		}
	}
	return nil
}

// A batch is one call of GetMany.
type batch struct {
	o     GetManyOptions
	keys  [][]byte
	found func(i int, value []byte) error

	parts  []tableBatch
	runs   []run   // reads to do
	failed []error // why keys have no answer

	fetched uint32 // the sum of what was only read for the processor's caches

	// Of the keys that the filters are consulted for together:
	filterKeys [stageSize][]byte
	mayContain [stageSize]bool
}

// A tableBatch is what one table is asked for.
type tableBatch struct {
	*batch
	GetManyPart
	t *openTable

	passed   []int           // the keys that pages of the filter have not ruled out; nil: it has no pages
	wanted   []wantedKey     // the keys that a read has to answer
	ended    error           // why nothing more is asked; failed has it too
	reported map[int64]error // those of failed that are for the block at an offset, or, at -1, for all
}

// A wantedKey is a key of a batch on the way to its answer.
type wantedKey struct {
	number int         // of the key in the batch
	part   *tableBatch // the table that it is looked up in

	block         int // the only data block that can have it
	filterChecked bool
	cached        *rowblock.Cached // the entries of that block, if the Cache has them
}

// len returns the number of keys of the part.
func (p *tableBatch) len() int {
	if p.Keys == nil {
		return len(p.keys)
	}
	return len(p.Keys)
}

// key returns key i of the part.
func (p *tableBatch) key(i int) wantedKey {
	if p.Keys != nil {
		i = p.Keys[i]
	}
	return wantedKey{number: i, part: p}
}

// endFrom ends the part with an error. Its keys from number first on have no answer.
func (p *tableBatch) endFrom(first int, err error) {
	p.ended = err
	p.failed = append(p.failed, err)
	for i := first; i < p.len(); i++ {
		p.noAnswer(err, p.key(i))
	}
}

// fail leaves keys without an answer. GetMany returns one error for each damaged block, and one for a table that has
// a filter only.
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

// noAnswer says that keys have no answer.
func (b *batch) noAnswer(err error, keys ...wantedKey) {
	if b.o.NoAnswer == nil {
		return
	}
	for _, k := range keys {
		b.o.NoAnswer(k.number, err)
	}
}
