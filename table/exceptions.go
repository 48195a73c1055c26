package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// maxExpansion bounds the total length of keys that are all checked or kept, as a multiple of the length of their
// blocks. Keys of a forged block can share so many bytes that they would take too long, or all memory.
const maxExpansion = 320

// exceptionsBudget bounds the memory for the keys in the exceptions block.
var exceptionsBudget = tablefile.Budget{Fixed: 4 << 20, PerByte: 1}

// errNeverChanged is the error for a list with other keys when it is read again.
var errNeverChanged = errors.New("table: Never yielded other keys the second time: its keys must be the same each time")

// A neverList reads WriterOptions.Never for a Writer, in two passes. The first runs alongside the table's keys, to
// find a key that is in both. Once the filter is built, the second finds the exceptions.
type neverList struct {
	o    *WriterOptions
	next func() ([]byte, error, bool) // nil before the first key of the table
	end  func()

	key       []byte       // the list's first key > the table's last key, if more
	filterKey []byte       // of key
	more      bool         // there is such a key
	sum       maphash.Hash // hash of the keys before it

	exceptions [][]byte
}

// stop ends the first pass.
func (l *neverList) stop() {
	if l.next != nil {
		l.end()
	}
}

// keys yields the keys of the list up to the first invalid one, for which it yields an error.
func (l *neverList) keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var last []byte
		for key, err := range l.o.Never {
			switch {
			case err != nil:
			case last != nil && l.o.Comparer.Compare(last, key) > 0:
				err = fmt.Errorf("%w: Never has %s after %s", ErrOrder, format.Quote(key), format.Quote(last))
			case filterKeyOf(l.o.FilterKey, key) == nil:
				err = fmt.Errorf("table: Never has key %s, which has no filter key, so no filter can rule it out", format.Quote(key))
			}
			if !yield(key, err) || err != nil {
				return
			}
			last = format.AppendNotNil(last[:0], key)
		}
	}
}

// pass advances past the list's keys before key, the table's next key. If key is on the list, it returns an error.
func (l *neverList) pass(key []byte) error {
	if l.next == nil {
		l.next, l.end = iter.Pull2(l.keys())
		if err := l.advance(); err != nil {
			return err
		}
	}
	for l.more {
		order := l.o.Comparer.Compare(l.key, key)
		filterKey := filterKeyOf(l.o.FilterKey, key) // each time, since advance may reuse its memory
		if order == 0 || filterKey != nil && bytes.Equal(l.filterKey, filterKey) {
			return fmt.Errorf("%w: %s is appended, and Never has it as %s: no lookup would find it", ErrNever, format.Quote(key), format.Quote(l.key))
		}
		if order > 0 {
			return nil
		}
		addKey(&l.sum, l.key)
		if err := l.advance(); err != nil {
			return err
		}
	}
	return nil
}

// advance reads the next key of the list.
func (l *neverList) advance() error {
	key, err, ok := l.next()
	if l.key, l.more = append(l.key[:0], key...), ok; ok && err == nil {
		l.filterKey = append(l.filterKey[:0], filterKeyOf(l.o.FilterKey, key)...)
	}
	return err
}

// addKey adds a key to a hash over several keys.
func addKey(h *maphash.Hash, key []byte) {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(key)))
	h.Write(length[:])
	h.Write(key)
}

// findExceptions finds the list's keys that pass the filter with these contents. They are false positives, since
// pass has found none in the table.
func (l *neverList) findExceptions(contents []byte) error {
	f, err := l.o.TableFilterPolicy.Open(contents)
	if err != nil {
		return fmt.Errorf("table: filter policy %q: %w", l.o.TableFilterPolicy.Name(), err)
	}
	l.stop()
	var sum maphash.Hash
	sum.SetSeed(l.sum.Seed())
	for key, err := range l.keys() {
		if err != nil {
			return err
		}
		if !l.isAfterTable(key) {
			addKey(&sum, key)
		}
		if filterKey := filterKeyOf(l.o.FilterKey, key); f.Contains(filterKey) {
			l.exceptions = append(l.exceptions, bytes.Clone(filterKey))
		}
	}
	if sum.Sum64() != l.sum.Sum64() {
		return errNeverChanged
	}
	slices.SortFunc(l.exceptions, bytes.Compare)
	l.exceptions = slices.CompactFunc(l.exceptions, bytes.Equal)
	return nil
}

// isAfterTable reports whether a key of the list comes after all keys of the table. In the second pass such a key
// can be missing, as in the tables of sets, or new.
func (l *neverList) isAfterTable(key []byte) bool {
	return l.next == nil || l.more && l.o.Comparer.Compare(key, l.key) >= 0
}
