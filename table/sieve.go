package table

import (
	"bytes"
	"cmp"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// A sieve has the filters of a table, and knows whether to trust them. Lookups consult filters only through it.
type sieve struct {
	layout.Filters
	byHash hashFilter // Filters.Table, if it depends on the hash of the whole key; else nil
	err    error      // why a filter is not in use

	file *tablefile.File
	o    *ReaderOptions

	// The filters of a table from Open are validated with its first keys. If one rules out such a key, it would hide
	// keys, and no filter is used. Most likely FilterKey is not the one that the table was written with, and the
	// filters contain the other keys only by chance. Filters are validated when one rules out a key for the first
	// time. Until then they have hidden nothing.
	trust    atomic.Int32 // 0 until it is known
	mu       sync.Mutex
	distrust error // which filters rule out a key of the table, if distrusted
}

const (
	trusted    = 1
	distrusted = 2
)

// These select the table filter, in place of the number of a data block.
const (
	wholeTable        = -1 // consulted for a key
	wholeTableByStart = -2 // consulted for a prefix, to which exceptions do not apply
)

// mayContain consults the filter of data block i, or the table filter if i is negative, for a filter key. If there
// is no such filter, or filterKey is nil, the key may be there. The same holds if the block's handle is corrupt:
// reading the block then fails.
func (s *sieve) mayContain(i int, filterKey []byte) (mayContain, checked bool) {
	switch {
	case filterKey == nil, i < 0 && s.Table == nil, i >= 0 && s.Blocks == nil:
		return true, false
	case i < 0:
		mayContain = s.Table.Contains(filterKey) && (s.Never == nil || i == wholeTableByStart || !s.Never.Contains(filterKey))
	default:
		span, err := s.file.Index.Filter(i)
		if err != nil {
			return true, false
		}
		mayContain = s.Blocks.ContainsInSpan(span, filterKey)
	}
	return s.record(mayContain, i < 0)
}

// record notes a filter's answer. Those of a distrusted filter do not count.
func (s *sieve) record(answer, ofTable bool) (mayContain, checked bool) {
	state := s.trust.Load()
	if state == distrusted || state != trusted && !answer && !s.validated() {
		return true, false
	}
	if m := s.o.Metrics; m != nil {
		m.FilterChecks.Add(1)
		if !answer {
			m.FilterNegatives.Add(1)
		}
		if !answer && ofTable {
			m.TableFilterNegatives.Add(1)
		}
	}
	return answer, true
}

// A HashedKey is a key with its hash, for [Reader.MayContainHashed]. It must not be used concurrently.
type HashedKey struct {
	key    []byte
	hash   bloom.TableHash
	hashed bool
}

// HashKey returns a HashedKey of key, which must not be modified while the HashedKey is in use.
func HashKey(key []byte) HashedKey { return HashedKey{key: key} }

// A hashFilter is a filter of filter.TableBloom, which can be consulted by the hash of a key.
type hashFilter interface {
	ContainsHash(h bloom.TableHash) bool
}

// excludes reports whether the table filter rules out the key by its hash. If it does not, the rest of the sieve may.
func (s *sieve) excludes(k *HashedKey) bool {
	if s.byHash == nil {
		return false
	}
	if !k.hashed {
		k.hash, k.hashed = bloom.TableHash(bloom.Hash(k.key, bloom.SignedTail)), true
	}
	if s.byHash.ContainsHash(k.hash) {
		return false
	}
	mayContain, _ := s.record(false, true)
	return !mayContain
}

// validated reports whether a filter that rules out a key can be trusted. If the first keys are corrupt, it can,
// since lookups will report that. If the source fails, it cannot, and the next negative validates again.
func (s *sieve) validated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trust.Load() == 0 {
		negatives, err := s.checkFirstKeys()
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return false
		}
		state := int32(trusted)
		if negatives != nil {
			s.distrust, state = negatives, distrusted
		}
		s.trust.Store(state)
	}
	return s.trust.Load() == trusted
}

// unusable returns why the filters cannot be trusted, or nil if they can, or if there are none.
func (s *sieve) unusable() error {
	return s.file.Mapped.Guard(func() error {
		if s.Blocks == nil && !s.HasTable() || s.validated() || s.trust.Load() != distrusted {
			return nil
		}
		return s.distrust
	})
}

// maxChecked is the number of first keys that validate filters. With a wrong FilterKey, a filter of 10 bits per key
// contains 1 of 100 keys by chance, but hardly several.
const maxChecked = 8

// errChecked ends the walk over the first keys.
var errChecked = errors.New("the filters were checked for enough keys")

// checkFirstKeys checks the filters for the first keys in the first data block, whatever their order. negatives is
// about the first key that is ruled out. err says why keys or filters cannot be read.
func (s *sieve) checkFirstKeys() (negatives, err error) {
	h, err := s.file.Index.Handle(0)
	if err != nil {
		return nil, err
	}
	b := tablefile.TakeScratch()
	defer b.Put()
	contents, err := s.file.ReadBlock(tablefile.DataBlock, h, b)
	if err != nil {
		return nil, err
	}
	var unread error // why the filters could not be read
	checked := 0
	err = format.Walk(contents, false, s.file.KeyBudget, func(key, _ []byte) error {
		negatives, unread = s.falseNegatives(h, key)
		if checked++; negatives != nil || unread != nil || checked == maxChecked {
			return errChecked
		}
		return nil
	})
	if err != nil && err != errChecked {
		return nil, s.file.Damaged(tablefile.DataBlock, h, err)
	}
	return negatives, unread
}

// falseNegatives returns an error for each filter that rules out key, which is in the data block at h, or its
// prefix. err says why the table filter cannot be read.
func (s *sieve) falseNegatives(h tablefile.Handle, key []byte) (negatives, err error) {
	var found [4]error
	filterKey := filterKeyOf(s.o.FilterKey, key)
	if s.HasTable() && filterKey != nil {
		inTable := func(key []byte) bool {
			contains, pageErr := s.tableContains(key)
			err = cmp.Or(err, pageErr)
			return contains
		}
		contains := func(key []byte) bool { return inTable(key) && !s.Never.Contains(key) }
		found[0] = s.falseNegative(s.TableEntry, contains, key, filterKey)
		if found[1] = s.prefixFalseNegative(s.TableEntry, inTable, filterKey); err != nil {
			return nil, err
		}
	}
	if f := s.Blocks; f != nil && filterKey != nil {
		contains := func(key []byte) bool { return f.Contains(h.Offset, key) }
		found[2] = s.falseNegative(s.BlocksEntry, contains, key, filterKey)
		found[3] = s.prefixFalseNegative(s.BlocksEntry, contains, filterKey)
	}
	return errors.Join(found[:]...), nil
}

// falseNegative returns an error if a filter rules out key, which is in the table.
func (s *sieve) falseNegative(listed layout.MetaindexEntry, contains func(filterKey []byte) bool, key, filterKey []byte) error {
	if contains(filterKey) {
		return nil
	}
	hint := "FilterKey is not the one that the table was written with, or the filter is damaged"
	if user := internalkey.UserKey(key); user != nil && !bytes.Equal(user, filterKey) && contains(user) {
		hint = "it has the key without its last 8 bytes, as in a database: use InternalComparer, or FilterKey: internalkey.UserKey"
	} else if !bytes.Equal(key, filterKey) && contains(key) {
		hint = "it has the whole key: use a FilterKey that returns the key"
	}
	return s.o.errorf("%s at %d rules out the table's key %s and is not used: %s", listed.Name, listed.Offset, format.Quote(key), hint)
}

// A batchFilter is a filter.TableFilter with the optional method ContainsMany.
type batchFilter interface {
	ContainsMany(keys [][]byte, results []bool)
}

// mayContainMany consults the table filter for several filter keys at once, if it has ContainsMany, and reports
// whether it did. The answers are not recorded.
func (s *sieve) mayContainMany(filterKeys [][]byte, answers []bool) bool {
	whole, ok := s.Table.(batchFilter)
	if !ok || len(filterKeys) < 2 {
		return false
	}
	whole.ContainsMany(filterKeys, answers)
	for i := 0; s.Never != nil && i < len(answers); i++ {
		answers[i] = answers[i] && !s.Never.Contains(filterKeys[i])
	}
	return true
}
