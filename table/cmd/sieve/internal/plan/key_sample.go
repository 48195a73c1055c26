package plan

import (
	"bytes"
	"errors"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// Limits of a KeySample. It has up to twice as much while it is read.
const (
	maxSampleKeys  = 500_000
	maxSampleBytes = 64 << 20
	minSampleKeys  = 1000

	minKept = 5 * minSampleKeys / 2 // half of which, by chance, is ≥ minSampleKeys almost certainly
)

// A pair is a key and its value.
type pair struct{ key, value []byte }

// A KeySample is keys and values of a list, from which a plan knows the sizes and rates of tables of
// that list, or of a longer one like it. It keeps all pairs of a short list. Of a longer one it keeps
// those whose keys have certain hashes, so that neither the order of keys nor repeated ones matter.
//
// Add all pairs. Then, if the list is longer than that and can be read again, give all of them to
// AddNeighbours, after ChooseStretches. At last call Complete.
type KeySample struct {
	pairs     []pair // sorted by key, once they are complete
	bytes     int
	added     uint64    // pairs of the list
	halved    int       // how often half of the keys were dropped
	repeats   bool      // a key of the list is repeated
	keys      uint64    // of the list, without repeated ones
	stretches []stretch // of which the sample has all keys; nil: none
	most      limits

	keyBytes, valueBytes float64 // means
	layouts              layouts
}

// limits are the most keys that a KeySample keeps, and the most bytes of them.
type limits struct{ keys, bytes int }

// NewKeySample returns a KeySample without keys.
func NewKeySample() *KeySample {
	return &KeySample{most: limits{maxSampleKeys, maxSampleBytes}, layouts: layouts{known: map[[2]uint64]keyLayout{}}}
}

// Add adds a pair. It keeps copies. An error says that the pairs are too large to be measured.
func (s *KeySample) Add(key, value []byte) error {
	if len(key) > maxKeySize {
		return cli.UsageErrorf("--sample has a key of %d bytes, want at most %d: %s…", len(key), maxKeySize, wire.Quote(key[:32]))
	}
	if s.added++; !s.keeps(key) {
		return nil
	}
	if s.add(key, value); !s.tooMany(2) {
		return nil
	}
	if s.reduce(); s.tooMany(2) {
		return cli.UsageErrorf("--sample has keys and values of %d bytes on average, want less than %d: give --key-size and --value-size instead",
			s.bytes/len(s.pairs), 2*s.most.bytes/minKept)
	}
	return nil
}

func (s *KeySample) add(key, value []byte) {
	s.pairs = append(s.pairs, pair{bytes.Clone(key), bytes.Clone(value)})
	s.bytes += len(key) + len(value)
}

// tooMany reports whether there are so many times more pairs than may be kept.
func (s *KeySample) tooMany(times int) bool {
	return len(s.pairs) > times*s.most.keys || s.bytes > times*s.most.bytes
}

// keeps reports whether the hash of a key is one that is kept. No filter uses this hash.
func (s *KeySample) keeps(key []byte) bool { return xxh3.HashSeed(key, 1)>>(64-s.halved) == 0 }

// reduce sorts the pairs, and drops half of them until there are few enough.
func (s *KeySample) reduce() {
	for s.sort(); s.tooMany(1) && len(s.pairs) > minKept; s.sort() {
		s.halved++
		s.pairs = slices.DeleteFunc(s.pairs, func(p pair) bool { return !s.keeps(p.key) })
	}
	if s.keys = s.added; s.repeats {
		s.keys = uint64(len(s.pairs)) << s.halved
	}
}

// sort sorts the pairs, and removes those whose key is repeated.
func (s *KeySample) sort() {
	all := len(s.pairs)
	slices.SortStableFunc(s.pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	s.pairs = slices.CompactFunc(s.pairs, func(a, b pair) bool { return bytes.Equal(a.key, b.key) })
	s.repeats = s.repeats || len(s.pairs) < all
	s.bytes = 0
	for _, p := range s.pairs {
		s.bytes += len(p.key) + len(p.value)
	}
}

// maxStretches is how many stretches there are. They are many, because parts of a list differ. Less than
// minStretches could have by chance far fewer or more pairs than the sample.
const (
	maxStretches = 256
	minStretches = 16
)

// A stretch is the keys from ≤ key < to of a list.
type stretch struct{ from, to []byte }

// ChooseStretches reports whether a list has more keys than the sample, which a plan for n keys
// needs. If it has, pairs of neighbours replace those that were added.
func (s *KeySample) ChooseStretches(n uint64) bool {
	s.reduce()
	all := len(s.pairs)
	count := min(maxStretches, all>>s.halved)
	if s.halved == 0 || n <= uint64(all) || count < minStretches {
		return false
	}
	width := all >> s.halved / count // in pairs, between which are the others of the list
	for i := range count {
		if from := i * all / count; from+width < all {
			s.stretches = append(s.stretches, stretch{s.pairs[from].key, s.pairs[from+width].key})
		}
	}
	s.most.bytes = max(s.most.bytes, s.bytes)
	s.pairs, s.bytes = nil, 0
	return true
}

// errSampleChanged is the error for a list that had other keys when it was read again.
var errSampleChanged = errors.New("--sample changed while it was read: plan again when nobody writes to it")

// AddNeighbours adds a pair if it is in a stretch.
func (s *KeySample) AddNeighbours(key, value []byte) error {
	i, found := slices.BinarySearchFunc(s.stretches, key, func(t stretch, key []byte) int { return bytes.Compare(t.from, key) })
	if !found {
		i--
	}
	if i < 0 || bytes.Compare(key, s.stretches[i].to) >= 0 {
		return nil
	}
	if s.add(key, value); !s.tooMany(2) {
		return nil
	}
	if s.sort(); s.tooMany(2) {
		return errSampleChanged
	}
	return nil
}

// Complete ends adding.
func (s *KeySample) Complete() error {
	if s.stretches == nil {
		s.reduce()
	} else if s.sort(); len(s.pairs) < s.most.keys/4 && s.bytes < s.most.bytes/4 {
		return errSampleChanged
	}
	if n := len(s.pairs); n < minSampleKeys && s.stretches == nil {
		return cli.UsageErrorf("--sample has %d different keys, want %d or more: better some 100,000", n, minSampleKeys)
	}
	keyBytes := 0
	for _, p := range s.pairs {
		keyBytes += len(p.key)
	}
	n := float64(len(s.pairs))
	s.keyBytes, s.valueBytes = float64(keyBytes)/n, float64(s.bytes-keyBytes)/n
	return nil
}

// Keys returns how many different keys the list has: an estimate, if it has more than are kept and
// some are repeated.
func (s *KeySample) Keys() uint64 { return s.keys }

// likeKeys returns of how many keys the neighbours in the sample are neighbours.
func (s *KeySample) likeKeys() float64 {
	if s.stretches == nil {
		return float64(len(s.pairs))
	}
	return float64(s.keys)
}

// thinned returns the pairs that a list of a share of the keys would have, chosen by chance.
func (s *KeySample) thinned(share float64) []pair {
	if share >= 1 {
		return s.pairs
	}
	var kept []pair
	for _, p := range s.pairs {
		if float64(xxh3.HashSeed(p.key, 2)) < share*(1<<64) {
			kept = append(kept, p)
		}
	}
	return kept
}
