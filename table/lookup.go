package table

import (
	"bytes"
	"io"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A match says which entry a lookup finds.
type match uint8

const (
	exact         match = iota // the one with the key
	sameFilterKey              // the first one whose key is >= the key, if it has the same filter key
	atOrAfter                  // the first one whose key is >= the key: filters are not checked
	maybe                      // any that filters and index do not rule out: no block is read
)

// A query is a lookup of one key.
type query struct {
	key     []byte
	match   match
	guarded bool // for a mapped file: called within Guard
}

type lookupOptions struct {
	tablefile.ReadOptions

	// If appends is set, key and value are appended to dstKey and dstValue. Otherwise they are returned in memory
	// that stays valid.
	appends          bool
	dstKey, dstValue []byte
}

// table returns the open table. Its first use opens it.
func (s *source) table() (*openTable, error) {
	if t := s.opened.Load(); t != nil {
		return t, nil
	}
	return s.open()
}

// reads returns the io.ReaderAt that the source reads, or ErrClosed.
func (s *source) reads() (io.ReaderAt, error) {
	s.firstUse.Lock()
	defer s.firstUse.Unlock()
	if s.closed.Load() {
		return nil, ErrClosed
	}
	return s.src, nil
}

// filterKeyOf returns the filter key of key: f(key), or all of key if f is nil. A nil key is the empty key: f never
// gets a nil slice.
func filterKeyOf(f func(key []byte) []byte, key []byte) []byte {
	if key == nil {
		key = []byte{}
	}
	if f == nil {
		return key
	}
	return f(key)
}

// startLookups counts n lookups. It returns an error if the Reader cannot do any.
func (t *openTable) startLookups(n int, m match) error {
	if t.file.Closed.Load() {
		return ErrClosed
	}
	if t.refused != nil && m != maybe {
		return t.refused
	}
	if m := t.o.Metrics; m != nil {
		m.Lookups.Add(uint64(n))
	}
	return nil
}

// lookup finds the entry of a query. Without one, the error is ErrNotFound, or says why the table cannot return it.
func (t *openTable) lookup(q query, o *lookupOptions) (k, v []byte, err error) {
	if t.file.Mapped != nil && !q.guarded {
		return t.lookupGuarded(q, *o)
	}
	filterKey, tableChecked := []byte(nil), false
	if q.match != atOrAfter {
		filterKey = filterKeyOf(t.o.FilterKey, q.key)
		if t.sieve.Table != nil || t.sieve.Pages != nil { // here, to save a call in each lookup
			if tableChecked, err = t.sieve.checkTable(wholeTable, filterKey, &o.ReadOptions); err != nil {
				return nil, nil, err
			}
		}
	}
	if q.match == maybe && (t.hidden != nil || t.refused != nil) {
		return nil, nil, nil
	}
	first, err := t.file.Index.Search(q.key)
	if err != nil {
		return nil, nil, err
	}
	// In a later block, at most the first key is wanted, which shares nothing.
	for i, memory := first, t.file.KeyBudget; i < t.file.Index.N; i, memory = i+1, 0 {
		mayContain, checked := t.sieve.mayContain(i, filterKey)
		switch {
		case mayContain:
			k, v, found, err := t.lookupIn(i, memory, &q, o, filterKey, tableChecked || checked)
			if found || err != nil {
				return k, v, err
			}
		case i > first:
			return nil, nil, ErrNotFound
		}
		if q.match == exact || q.match != atOrAfter && !t.nextMayHave(i, filterKey) {
			return nil, nil, ErrNotFound
		}
	}
	return nil, nil, t.notInIndex()
}

// lookupGuarded is lookup for a mapped file. It is a function of its own since its closure moves the query to the
// heap, which takes longer than some lookups.
func (t *openTable) lookupGuarded(q query, o lookupOptions) (k, v []byte, err error) {
	q.guarded = true
	err = t.file.Mapped.Guard(func() (err error) {
		k, v, err = t.lookup(q, &o)
		return err
	})
	return k, v, err
}

// lookupIn finds the entry in data block i. Unless the match is exact, keys that share bytes may take that much memory,
// in bytes. checked reports whether a filter was consulted.
func (t *openTable) lookupIn(i, memory int, q *query, o *lookupOptions, filterKey []byte, checked bool) (k, v []byte, found bool, err error) {
	if q.match == maybe {
		return nil, nil, true, nil
	}
	var b tablefile.Block
	defer b.Release()
	if err := b.Open(&t.file, i, &o.ReadOptions); err != nil {
		return nil, nil, false, err
	}
	same := true
	if q.match == exact {
		v, found, err = b.Get(q.key)
		same = found
	} else {
		k, v, found, err = b.SeekGE(q.key, memory, o.appends)
		if q.match == sameFilterKey {
			same = found && t.sameFilterKey(k, filterKey)
		}
	}
	if err != nil {
		return nil, nil, false, err
	}
	if same || !checked {
		b.Admit()
	} else { // a false positive: the block may never be needed again
		t.reportMiss(q.key, o.ReadOptions)
	}
	switch {
	case !found:
		return nil, nil, false, nil
	case !same:
		return nil, nil, true, ErrNotFound
	case o.appends:
		k, v = o.appendEntry(&b, q.match, k, v)
	default:
		k, v = b.Keep(k, v)
	}
	return k, v, true, nil
}

// reportMiss counts a false positive, and reports it unless the table has another version of the key.
func (t *openTable) reportMiss(key []byte, o tablefile.ReadOptions) {
	if m := t.o.Metrics; m != nil {
		m.FilterFalsePositives.Add(1)
	}
	report := t.o.OnFalsePositive
	if report == nil {
		return
	}
	filterKey := filterKeyOf(t.o.FilterKey, key)
	if t.o.filtersUserKeys {
		newest := query{key: internalkey.SearchKey(nil, filterKey, internalkey.MaxSequence), match: atOrAfter, guarded: true}
		o.NoFill = true
		k, _, err := t.lookup(newest, &lookupOptions{ReadOptions: o})
		if err == nil && t.sameFilterKey(k, filterKey) || err != nil && err != ErrNotFound { // it has one, or may have one
			return
		}
	}
	report(filterKey)
}

// appendEntry appends the entry to dstKey and dstValue.
func (o *lookupOptions) appendEntry(b *tablefile.Block, m match, k, v []byte) (key, value []byte) {
	switch {
	case m == exact && len(o.dstValue) == 0 && cap(o.dstValue) < len(v) && !b.Lasts(): // no copy if it is large
		return b.Keep(nil, v)
	case m == exact:
		return nil, format.AppendNotNil(o.dstValue, v)
	case o.dstKey == nil && o.dstValue == nil: // one allocation for both
		both := append(append(make([]byte, 0, len(k)+len(v)), k...), v...)
		return both[:len(k):len(k)], both[len(k):]
	}
	return format.AppendNotNil(o.dstKey, k), format.AppendNotNil(o.dstValue, v)
}

// notInIndex is the error for a key that is > all separators.
func (t *openTable) notInIndex() error {
	if t.hidden != nil {
		return t.hidden
	}
	return ErrNotFound
}

// nextMayHave reports whether the first key >= a searched key with that filter key may be in the data block after
// block i, although the index returned block i. This is so if block i has no key >= the searched key.
func (t *openTable) nextMayHave(i int, filterKey []byte) bool {
	return t.o.FilterKey != nil && (!t.o.filtersUserKeys || t.sameFilterKey(t.file.Index.Separator(i), filterKey))
}

// sameFilterKey reports whether the filter key of key is filterKey. If FilterKey is not an InternalComparer's, key
// must not be a separator, which need not be a valid key.
func (t *openTable) sameFilterKey(key, filterKey []byte) bool {
	if t.o.FilterKey == nil {
		return t.file.Order().Compare(key, filterKey) == 0
	}
	key = filterKeyOf(t.o.FilterKey, key)
	return (key == nil) == (filterKey == nil) && bytes.Equal(key, filterKey)
}
