package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// errNeverChanged is the error for a list that is another one when it is read again.
var errNeverChanged = errors.New("table: Never has not yielded the same keys twice: want a sequence that can be run again")

// checkNever checks what Never needs of the other options.
func (o *WriterOptions) checkNever() error {
	switch {
	case o.Never == nil:
		return nil
	case o.TableFilterPolicy == nil:
		return errors.New("table: Never is set without a TableFilterPolicy: want one, since exceptions are those of its filter")
	case BlockOrder(o.Comparer).Unchecked:
		return errors.New("table: Never is set with AnyOrder: want a Comparer that orders its keys")
	}
	return nil
}

// A neverList is WriterOptions.Never for a Writer. First it goes through the list beside the keys of the
// table, to find a key that is in both. When the filter is known, it goes through the list again, for
// the keys that are exceptions.
type neverList struct {
	o    *WriterOptions
	next func() ([]byte, error, bool) // nil before the first key of the table
	stop func()

	key       []byte       // the first one ≥ the last key of the table, if more
	filterKey []byte       // of key
	more      bool         // there is one
	passed    int          // keys before it
	sum       maphash.Hash // of these

	exceptions [][]byte
}

func newNeverList(o *WriterOptions) *neverList { return &neverList{o: o, stop: func() {}} }

// keys returns the keys of the list, as far as they are right. An error is the last of them.
func (l *neverList) keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var last []byte
		for key, err := range l.o.Never {
			switch {
			case err != nil:
			case last != nil && l.o.Comparer.Compare(last, key) > 0:
				err = fmt.Errorf("%w: Never has %s after %s", ErrOrder, wire.Quote(key), wire.Quote(last))
			case filterKeyOf(l.o.FilterKey, key) == nil:
				err = fmt.Errorf("table: Never has key %s, which has no filter key: no filter can deny it", wire.Quote(key))
			}
			if !yield(key, err) || err != nil {
				return
			}
			last = wire.AppendNotNil(last[:0], key)
		}
	}
}

// pass passes the keys of the list that are before key, the next one of the table. key on the list is
// an error.
func (l *neverList) pass(key []byte) error {
	if l.next == nil {
		l.next, l.stop = iter.Pull2(l.keys())
		if err := l.advance(); err != nil {
			return err
		}
	}
	for l.more {
		order := l.o.Comparer.Compare(l.key, key)
		filterKey := filterKeyOf(l.o.FilterKey, key) // advance may reuse its memory
		if order == 0 || filterKey != nil && bytes.Equal(l.filterKey, filterKey) {
			return fmt.Errorf("%w: %s is appended, and Never has it as %s: no lookup would find it", ErrNever, wire.Quote(key), wire.Quote(l.key))
		}
		if order > 0 {
			return nil
		}
		addKey(&l.sum, l.key)
		l.passed++
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

// addKey adds a key to a hash of several.
func addKey(h *maphash.Hash, key []byte) {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(key)))
	h.Write(length[:])
	h.Write(key)
}

// findExceptions finds the keys of the list that the filter has, whose contents are given. These are no
// keys of the table, since pass has found none.
func (l *neverList) findExceptions(contents []byte) error {
	f, err := l.o.TableFilterPolicy.Open(contents)
	if err != nil {
		return fmt.Errorf("table: filter policy %q: %w", l.o.TableFilterPolicy.Name(), err)
	}
	l.stop()
	n := 0
	var sum maphash.Hash
	sum.SetSeed(l.sum.Seed())
	for key, err := range l.keys() {
		if err != nil {
			return err
		}
		if n++; n <= l.passed {
			addKey(&sum, key)
		} else if n == l.passed+1 && !l.mayBeNext(key) {
			return errNeverChanged
		}
		if filterKey := filterKeyOf(l.o.FilterKey, key); f.Contains(filterKey) {
			l.exceptions = append(l.exceptions, bytes.Clone(filterKey))
		}
	}
	if n < l.passed || sum.Sum64() != l.sum.Sum64() {
		return errNeverChanged
	}
	slices.SortFunc(l.exceptions, bytes.Compare)
	l.exceptions = slices.CompactFunc(l.exceptions, bytes.Equal)
	return nil
}

// mayBeNext reports whether the first key behind those that were passed is behind the keys of the table, as
// the one before was. Then all later ones are. The list may end sooner than before: sets leave out what is
// behind their tables. If no key was passed, the table has none.
func (l *neverList) mayBeNext(key []byte) bool {
	return l.next == nil || l.more && l.o.Comparer.Compare(key, l.key) >= 0
}

// checkNeverHasFilter returns an error if there are entries, but no filter that could have exceptions.
func (w *Writer) checkNeverHasFilter() error {
	if w.never == nil || w.entries == 0 {
		return nil
	}
	return errors.New("table: Never is set, but no key of the table has a filter key: there is no filter to deny keys")
}

// writeNever writes the exceptions, if there are any, and lists them in the metaindex.
func (w *Writer) writeNever(meta *block.Writer) error {
	if w.never == nil || w.never.exceptions == nil {
		return nil
	}
	contents, err := block.NewWriter(block.DefaultRestartInterval, block.Order{})
	if err != nil {
		return err
	}
	for _, key := range w.never.exceptions {
		if err := contents.Append(key, nil); err != nil {
			return err
		}
	}
	b, err := w.writeRaw(contents.Finish(), NeverBlock)
	if err != nil {
		return err
	}
	return w.list(meta, format.NeverName, b)
}
