package paged

import (
	"math/bits"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
)

// Open returns contents ready for lookups. It keeps the slice, which the caller must not modify. It checks only the
// trailer: see [ReadShape]. The first lookup in a page checks the page. A corrupt page may contain every key.
func (Policy) Open(contents []byte) (filter.TableFilter, error) {
	s, err := ReadShape(contents, uint64(len(contents)))
	if err != nil {
		return nil, err
	}
	return &openFilter{Shape: s, contents: contents, sound: make([]atomic.Uint64, (s.Pages+63)/64)}, nil
}

// An openFilter is a filter in memory.
type openFilter struct {
	Shape
	contents []byte
	sound    []atomic.Uint64 // a bit for each page, set once its checksum has matched
}

// Contains reports whether all bits of key are set in its page, or the page is corrupt. It repeats the code of Hash
// without a seed and of mayContain, since calls would take 2 to 7 % of a lookup.
func (f *openFilter) Contains(key []byte) bool {
	h := xxh3.Hash(key)
	if f.Seed != 0 {
		h = f.Hash(key)
	}
	n, rest := bits.Mul64(h, f.Pages)
	page := (*[PageSize]byte)(f.contents[n*PageSize:])
	if f.sound[n/64].Load()>>(n%64)&1 == 0 && !f.check(page, n) {
		return true
	}
	k := f.K
	for ; k >= 3; k -= 3 {
		x, y := rest*multiplier, rest*multiplier2
		if rest *= multiplier3; bit(page, x)&bit(page, y)&bit(page, rest)&1 == 0 {
			return false
		}
	}
	for ; k > 0; k-- {
		if rest *= multiplier; bit(page, rest)&1 == 0 {
			return false
		}
	}
	return true
}

// check reports whether the checksum of page n matches, and sets the page's bit if it does.
func (f *openFilter) check(page *[PageSize]byte, n uint64) bool {
	sound := f.pageSum(page[:], n) == storedSum(page[:])
	if sound {
		f.sound[n/64].Or(1 << (n % 64))
	}
	return sound
}
