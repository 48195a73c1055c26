package merge

import (
	"bytes"
	"cmp"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/spool"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Inside a Sorter, a pair has an internal key. Sequence numbers decrease, so that pairs with equal keys stay in
// order. A long key is cut: its start is followed by its place in the file of large keys and values.
const (
	hasValue = internalkey.Set
	hasPlace = internalkey.Delete // the value is a place in that file
)

func (s *Sorter) isCut(userKey []byte) bool { return len(userKey) >= s.cut+spool.PlaceLen }

// compare compares two keys by the caller's keys, and then by their numbers.
func (s *Sorter) compare(a, b []byte) int {
	if c := bytes.Compare(s.prefix(a), s.prefix(b)); c != 0 {
		return c
	}
	x, _ := internalkey.Parse(a)
	y, _ := internalkey.Parse(b)
	return cmp.Or(s.Comparer.Compare(s.whole(x.UserKey), s.whole(y.UserKey)), cmp.Compare(y.Sequence, x.Sequence))
}

// prefix returns the part of a key that is in bytewise order, up to the length at which keys are cut.
func (s *Sorter) prefix(key []byte) []byte {
	if !s.order.Bytewise() {
		return nil
	}
	return key[:max(0, min(len(key)-format.InternalTrailerLen-s.order.Suffix, s.cut))]
}

// whole returns the caller's key. If it cannot be read, sorting fails, and the order no longer matters.
func (s *Sorter) whole(key []byte) []byte {
	if !s.isCut(key) {
		return key
	}
	whole, err := s.large.Get(key[s.cut:], nil)
	if err != nil {
		s.fail(err)
	}
	return whole
}
