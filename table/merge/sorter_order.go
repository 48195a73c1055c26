package merge

import (
	"bytes"
	"cmp"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/spool"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Inside a Sorter, a pair has an internal key. Sequence numbers fall, so that equal keys stay in their order. Of a long
// key, only the beginning is there, and its place in the file of large keys and values.
const (
	hasValue = internalkey.Set
	hasPlace = internalkey.Delete // of the value
)

func (s *Sorter) isCut(userKey []byte) bool { return len(userKey) >= s.cut+spool.PlaceLen }

// compare compares two keys by the users' keys, and then by their numbers.
func (s *Sorter) compare(a, b []byte) int {
	if c := bytes.Compare(s.prefix(a), s.prefix(b)); c != 0 {
		return c
	}
	x, _ := internalkey.Parse(a)
	y, _ := internalkey.Parse(b)
	return cmp.Or(s.Comparer.Compare(s.whole(x.UserKey), s.whole(y.UserKey)), cmp.Compare(y.Sequence, x.Sequence))
}

// prefix returns what is in bytewise order of a key, but of a long one only as much as a cut key has.
func (s *Sorter) prefix(key []byte) []byte {
	if !s.order.Bytewise() {
		return nil
	}
	return key[:max(0, min(len(key)-format.InternalTrailerLen-s.order.Suffix, s.cut))]
}

// whole returns the user's key. If it cannot be read, sorting fails, and the order does not matter any more.
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
