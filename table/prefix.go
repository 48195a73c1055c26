package table

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// prefixerOf returns the Prefixer of PrefixUntil or PrefixOfLength that has the name, or nil if neither
// has.
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

// storedPrefix returns the prefix that all filter keys have that start with start, or nil if the filters
// do not hold one.
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

// boundsPrefix returns the prefix that all filter keys within the bounds have, or nil if the filters do not hold one.
// Only in the bytewise order are the keys of a prefix neighbours, and only whole user keys have their prefixes.
func (t *openTable) boundsPrefix(lower, upper []byte) []byte {
	order := t.file.Order()
	if t.sieve.Prefix == nil || order.Unchecked || !order.Bytewise() {
		return nil
	}
	user, boundsOf := lower, PrefixBounds
	switch {
	case order.Suffix > 0 && t.o.filtersUserKeys:
		user, boundsOf = InternalFilterKey(lower), InternalPrefixBounds
	case t.o.FilterKey != nil:
		return nil
	}
	prefix := t.sieve.storedPrefix(user)
	if prefix == nil {
		return nil
	}
	if _, end := boundsOf(prefix); end != nil && (upper == nil || order.Compare(upper, end) > 0) {
		return nil
	}
	return prefix
}

// maxStart is up to which length starts of a key are checked.
const maxStart = 256

// checkPrefixer checks that p gives a key and its starts one prefix, if a start is a prefix itself.
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

// openPrefixer returns the Prefixer whose prefixes the filters hold. It is nil if they hold none, or if
// the function is not known.
func (f metaReader) openPrefixer(m tablefile.Metaindex) (filter.Prefixer, error) {
	h, err := f.FindMeta(m, tablefile.PropertiesBlock, format.PrefixName)
	if err != nil || h.Length == 0 {
		return nil, err
	}
	p, err := f.propertiesAt(h, new(tablefile.Scratch))
	if err != nil {
		return nil, err
	}
	for _, known := range f.o.FilterPrefixes {
		if known != nil && known.Name() == p.FilterPrefix {
			return known, nil
		}
	}
	return prefixerOf(p.FilterPrefix), nil
}

// prefixFalseNegative returns an error if a filter rules out the prefix of a filter key that the table has.
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

// PrefixBounds returns Lower and Upper of [IterOptions] for the keys that start with prefix, in bytewise order. upper
// may be nil, which means no bound. For internal keys, use [InternalPrefixBounds].
func PrefixBounds(prefix []byte) (lower, upper []byte) {
	lower = append([]byte{}, prefix...)
	for n := len(prefix); n > 0; n-- {
		if last := prefix[n-1]; last < 0xff {
			return lower, append(append([]byte{}, prefix[:n-1]...), last+1)
		}
	}
	return lower, nil
}

// InternalPrefixBounds is like [PrefixBounds] for internal keys whose user keys are in bytewise order. The bounds
// include all versions of the user keys.
func InternalPrefixBounds(prefix []byte) (lower, upper []byte) {
	lower, upper = PrefixBounds(prefix)
	if upper != nil {
		upper = SearchKey(upper, nil, MaxSequence)
	}
	return SearchKey(lower, nil, MaxSequence), upper
}
