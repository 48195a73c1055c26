package table

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// prefixerOf returns the Prefixer of that name from PrefixUntil or PrefixOfLength, or nil.
func prefixerOf(name string) filter.Prefixer {
	if delimiter, found := strings.CutPrefix(name, filter.PrefixUntil("").Name()); found {
		return filter.PrefixUntil(delimiter)
	}
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, ':')+1:])
	if p := filter.PrefixOfLength(n); err == nil && p.Name() == name {
		return p
	}
	return nil
}

// prefixOf returns the prefix of a filter key, or nil if it has none.
func prefixOf(p filter.Prefixer, filterKey []byte) []byte {
	if n := p.PrefixLen(filterKey); n > 0 && n <= len(filterKey) {
		return filterKey[:n:n]
	}
	return nil
}

// storedPrefix returns the prefix shared by all filter keys that start with start, or nil if the filters do not hold
// one.
func (s *sieve) storedPrefix(start []byte) []byte {
	if s.Prefix == nil {
		return nil
	}
	prefix := prefixOf(s.Prefix, start)
	if prefix == nil || len(prefixOf(s.Prefix, prefix)) != len(prefix) {
		return nil
	}
	return prefix
}

// bounds returns copies of the bounds in o, narrowed to Prefix if keys with a prefix are neighbors.
func (t *openTable) bounds(o *IterOptions) (lower, upper []byte) {
	lower, upper = bytes.Clone(o.Lower), bytes.Clone(o.Upper)
	if len(o.Prefix) == 0 || !t.neighbors() {
		return lower, upper
	}
	order, first := t.file.Order(), bytes.Clone(o.Prefix)
	if order.Suffix > 0 {
		first = internalkey.SearchKey(first, nil, internalkey.MaxSequence)
	}
	return format.Narrow(lower, upper, first, t.prefixEnd(o.Prefix), order.Compare)
}

// neighbors reports whether all keys with the same prefix are neighbors. They are if keys are in bytewise order and
// filter keys are whole keys or user keys.
func (t *openTable) neighbors() bool {
	order := t.file.Order()
	return order.Bytewise() && (t.o.FilterKey == nil || order.Suffix > 0 && t.o.filtersUserKeys)
}

// prefixEnd returns the upper bound of the keys with a prefix, if they are neighbors, or nil if there is none.
func (t *openTable) prefixEnd(prefix []byte) []byte {
	end := format.PrefixEnd(prefix)
	if end != nil && t.file.Order().Suffix > 0 {
		end = internalkey.SearchKey(end, nil, internalkey.MaxSequence)
	}
	return end
}

// boundsPrefix returns the prefix shared by all filter keys within the bounds, or nil if the filters do not hold
// one.
func (t *openTable) boundsPrefix(lower, upper []byte) []byte {
	if t.sieve.Prefix == nil || !t.neighbors() {
		return nil
	}
	user := lower
	if t.file.Order().Suffix > 0 {
		user = internalkey.UserKey(lower)
	}
	prefix := t.sieve.storedPrefix(user)
	if prefix == nil {
		return nil
	}
	if end := t.prefixEnd(prefix); end != nil && (upper == nil || t.file.Order().Compare(upper, end) > 0) {
		return nil
	}
	return prefix
}

// maxStart is the maximum length of a key's starts that are checked.
const maxStart = 256

// checkPrefixer checks that p returns the same prefix for key and for each start of key that is a prefix itself.
func checkPrefixer(p filter.Prefixer, key []byte) error {
	prefix := prefixOf(p, key)
	for n := 1; n <= min(len(key), maxStart); n++ {
		if start := key[:n]; n != len(prefix) && len(prefixOf(p, start)) == n {
			return fmt.Errorf("the Prefixer %.100q is wrong: the prefix of %s is %s, but its start %s is a prefix too, which all keys with that start must have",
				p.Name(), format.Quote(key), format.Quote(prefix), format.Quote(start))
		}
	}
	return nil
}

// prefixFalseNegative returns an error if a filter rules out the prefix of a filter key in the table.
func (s *sieve) prefixFalseNegative(listed layout.MetaindexEntry, contains func(filterKey []byte) bool, filterKey []byte) error {
	if s.Prefix == nil {
		return nil
	}
	prefix := prefixOf(s.Prefix, filterKey)
	if err := checkPrefixer(s.Prefix, filterKey); err != nil {
		return s.o.errorf("%s at %d is not used: %w", listed.Name, listed.Offset, err)
	}
	if prefix == nil || contains(prefix) {
		return nil
	}
	return s.o.errorf("%s at %d rules out %s and is not used: it is the prefix of the table's key %s by %s, which is not the function that the table was written with, or the filter is damaged",
		listed.Name, listed.Offset, format.Quote(prefix), format.Quote(filterKey), fmt.Sprintf("%.100q", s.Prefix.Name()))
}
