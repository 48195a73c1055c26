package plan

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// Limits of a KeySample. It has up to twice as much while it is read.
const (
	maxSampleKeys  = 500_000
	maxSampleBytes = 64 << 20
	minSampleKeys  = 1000

	minKept = 5 * minSampleKeys / 2 // half of which, by chance, is ≥ minSampleKeys almost certainly
)

// A KeySample is keys and values of a list, from which a plan knows the sizes and rates of tables of
// that list, or of a longer one like it. It keeps all pairs of a short list. Of a longer one it keeps
// those whose keys have certain hashes, so that neither the order of keys nor repeated ones matter.
type KeySample struct {
	Keys uint64 // different ones of the list: an estimate, if it has more than are kept and some are repeated

	pairs           []input.Pair // sorted by key, once they are complete
	keyBytes, bytes int          // of the keys, once they are sorted, and of the pairs
	added           uint64       // pairs of the list
	halved          int          // how often half of the keys were dropped
	repeats         bool         // a key of the list is repeated
	stretches       []stretch    // of which the sample has all keys; nil: none
	most            limits

	mu        sync.Mutex
	layouts   map[[2]uint64]keyLayout // that are known, by the keys of tables and their size of blocks
	layoutErr error                   // of writing a table
}

// limits are the most keys that a KeySample keeps, and the most bytes of them.
type limits struct{ keys, bytes int }

// ReadSample returns the sample of a list. If the list is longer than a sample, and a plan for n keys needs more of it,
// it is read again, provided that it can be.
func ReadSample(list iter.Seq2[input.Pair, error], canReadAgain bool, n uint64) (*KeySample, error) {
	return readSample(list, canReadAgain, n, limits{maxSampleKeys, maxSampleBytes})
}

func readSample(list iter.Seq2[input.Pair, error], canReadAgain bool, n uint64, most limits) (*KeySample, error) {
	s := &KeySample{most: most, layouts: map[[2]uint64]keyLayout{}}
	if err := addAll(list, s.addKept); err != nil {
		return nil, err
	}
	s.reduce()
	if !canReadAgain || !s.chooseStretches(n) {
		if n := len(s.pairs); n < minSampleKeys {
			return nil, cli.UsageErrorf("--sample has %d distinct keys, fewer than %d: use a larger sample, ideally 100,000 keys or more", n, minSampleKeys)
		}
		return s, nil
	}
	if err := addAll(list, s.addNeighbor); err != nil {
		return nil, err
	}
	if s.sort(); len(s.pairs) < s.most.keys/4 && s.bytes < s.most.bytes/4 {
		return nil, errSampleChanged
	}
	return s, nil
}

// addAll adds the pairs of a list.
func addAll(list iter.Seq2[input.Pair, error], add func(input.Pair) error) error {
	for p, err := range list {
		if err == nil {
			err = add(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addKept adds a pair if its key is kept. An error says that the pairs are too large to be measured.
func (s *KeySample) addKept(p input.Pair) error {
	if len(p.Key) > maxKeySize {
		return cli.UsageErrorf("--sample has a key of %d bytes, over the limit of %d: %s…", len(p.Key), maxKeySize, format.Quote(p.Key[:32]))
	}
	if s.added++; !s.keeps(p.Key) {
		return nil
	}
	if s.add(p); !s.tooMany(2) {
		return nil
	}
	if s.reduce(); s.tooMany(2) {
		return cli.UsageErrorf("--sample has keys and values of %d bytes on average, over the limit of %d: use --key-size and --value-size instead",
			s.bytes/len(s.pairs), 2*s.most.bytes/minKept)
	}
	return nil
}

// add adds a copy of a pair.
func (s *KeySample) add(p input.Pair) {
	s.pairs = append(s.pairs, input.Pair{Key: bytes.Clone(p.Key), Value: bytes.Clone(p.Value)})
	s.bytes += len(p.Key) + len(p.Value)
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
		s.pairs = slices.DeleteFunc(s.pairs, func(p input.Pair) bool { return !s.keeps(p.Key) })
	}
	if s.Keys = s.added; s.repeats {
		s.Keys = uint64(len(s.pairs)) << s.halved
	}
}

// sort sorts the pairs, and removes those whose key is repeated.
func (s *KeySample) sort() {
	all := len(s.pairs)
	slices.SortStableFunc(s.pairs, func(a, b input.Pair) int { return bytes.Compare(a.Key, b.Key) })
	s.pairs = slices.CompactFunc(s.pairs, func(a, b input.Pair) bool { return bytes.Equal(a.Key, b.Key) })
	s.repeats = s.repeats || len(s.pairs) < all
	s.keyBytes, s.bytes = 0, 0
	for _, p := range s.pairs {
		s.keyBytes += len(p.Key)
		s.bytes += len(p.Key) + len(p.Value)
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

// chooseStretches reports whether a list has more keys than the sample, which a plan for n keys
// needs. If it has, pairs of neighbors replace those that were added.
func (s *KeySample) chooseStretches(n uint64) bool {
	all := len(s.pairs)
	count := min(maxStretches, all>>s.halved)
	if s.halved == 0 || n <= uint64(all) || count < minStretches {
		return false
	}
	width := all >> s.halved / count // in pairs, between which are the others of the list
	for i := range count {
		if from := i * all / count; from+width < all {
			s.stretches = append(s.stretches, stretch{s.pairs[from].Key, s.pairs[from+width].Key})
		}
	}
	s.most.bytes = max(s.most.bytes, s.bytes)
	s.pairs, s.bytes = nil, 0
	return true
}

// errSampleChanged is the error for a list that had other keys when it was read again.
var errSampleChanged = errors.New("--sample changed while it was read: run sieve plan again on a file that does not change")

// addNeighbor adds a pair if it is in a stretch.
func (s *KeySample) addNeighbor(p input.Pair) error {
	i, found := slices.BinarySearchFunc(s.stretches, p.Key, func(t stretch, key []byte) int { return bytes.Compare(t.from, key) })
	if !found {
		i--
	}
	if i < 0 || bytes.Compare(p.Key, s.stretches[i].to) >= 0 {
		return nil
	}
	if s.add(p); !s.tooMany(2) {
		return nil
	}
	if s.sort(); s.tooMany(2) {
		return errSampleChanged
	}
	return nil
}

// likeKeys returns of how many keys the neighbors in the sample are neighbors.
func (s *KeySample) likeKeys() float64 {
	if s.stretches == nil {
		return float64(len(s.pairs))
	}
	return float64(s.Keys)
}

// thinned returns the pairs that a list of a share of the keys would have, chosen by chance.
func (s *KeySample) thinned(share float64) []input.Pair {
	if share >= 1 {
		return s.pairs
	}
	var kept []input.Pair
	for _, p := range s.pairs {
		if float64(xxh3.HashSeed(p.Key, 2)) < share*(1<<64) {
			kept = append(kept, p)
		}
	}
	return kept
}
