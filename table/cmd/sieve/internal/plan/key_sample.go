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

// Limits of a KeySample. While it is read, it may have twice as much.
const (
	maxSampleKeys  = 500_000
	maxSampleBytes = 64 << 20
	minSampleKeys  = 1000

	minKept = 5 * minSampleKeys / 2 // a random half is almost certainly ≥ minSampleKeys
)

// A KeySample is a sample of a list of keys and values. From it, a plan estimates the sizes and rates of tables
// of that list, or of a longer list like it. It keeps all pairs of a short list. From a longer list, it keeps
// pairs whose keys have certain hashes, so that neither the order of the keys nor repeated keys matter.
type KeySample struct {
	Keys uint64 // distinct keys of the list; an estimate if not all are kept and some are repeated

	pairs           []input.Pair // sorted by key once complete
	keyBytes, bytes int          // sizes of the keys, once sorted, and of the pairs
	added           uint64       // number of pairs in the list
	halved          int          // number of times that half of the keys were dropped
	repeats         bool         // the list has repeated keys
	stretches       []stretch    // stretches from which all keys are kept; nil: none
	most            limits

	mu        sync.Mutex
	layouts   map[[2]uint64]keyLayout // known layouts, by keys per table and block size
	layoutErr error                   // error of writing a table
	trials    map[trial]func() (Measurement, error)
}

// limits are the maximum number and total size of pairs that a KeySample keeps.
type limits struct{ keys, bytes int }

// ReadSample returns a sample of a list. If the list is longer than a sample, and a plan for n keys needs
// neighboring keys, ReadSample reads the list again, if canReadAgain is true.
func ReadSample(list iter.Seq2[input.Pair, error], canReadAgain bool, n uint64) (*KeySample, error) {
	return readSample(list, canReadAgain, n, limits{maxSampleKeys, maxSampleBytes})
}

func readSample(list iter.Seq2[input.Pair, error], canReadAgain bool, n uint64, most limits) (*KeySample, error) {
	s := &KeySample{most: most, layouts: map[[2]uint64]keyLayout{}, trials: map[trial]func() (Measurement, error){}}
	if err := addAll(list, s.addKept); err != nil {
		return nil, err
	}
	s.reduce()
	if !canReadAgain || !s.chooseStretches(n) {
		if n := len(s.pairs); n < minSampleKeys {
			return nil, cli.UsageErrorf("--sample has %d distinct keys, fewer than %d: use a larger sample, ideally 100,000 keys or more", n, minSampleKeys)
		}
		s.packKeys()
		return s, nil
	}
	if err := addAll(list, s.addNeighbor); err != nil {
		return nil, err
	}
	if s.sort(); len(s.pairs) < s.most.keys/4 && s.bytes < s.most.bytes/4 {
		return nil, errSampleChanged
	}
	s.packKeys()
	return s, nil
}

// packKeys moves the keys next to each other, in order. They were read in another order, so that reading them one
// after another would miss the cache.
func (s *KeySample) packKeys() {
	packed := make([]byte, 0, s.keyBytes)
	for i, p := range s.pairs {
		packed = append(packed, p.Key...)
		s.pairs[i].Key = packed[len(packed)-len(p.Key):]
	}
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

// addKept adds a pair if its key is kept. It returns an error if the pairs are too large to be measured.
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

// tooMany reports whether the pairs exceed the limits, multiplied by times.
func (s *KeySample) tooMany(times int) bool {
	return len(s.pairs) > times*s.most.keys || s.bytes > times*s.most.bytes
}

// keeps reports whether a key is kept, by its hash. No filter uses this hash.
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

// sort sorts the pairs, and removes repeated keys.
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

// maxStretches is the usual number of stretches. There are many, because parts of a list differ. With less than
// minStretches, the number of pairs could by chance be far from the sample's.
const (
	maxStretches = 256
	minStretches = 16
)

// A stretch is the keys from ≤ key < to of a list.
type stretch struct{ from, to []byte }

// chooseStretches reports whether a plan for n keys needs neighboring keys of a list that is longer than the
// sample. If so, it chooses stretches, and drops the pairs: neighbors will replace them.
func (s *KeySample) chooseStretches(n uint64) bool {
	all := len(s.pairs)
	count := min(maxStretches, all>>s.halved)
	if s.halved == 0 || n <= uint64(all) || count < minStretches {
		return false
	}
	width := all >> s.halved / count // in pairs, of the sample; the list has more in between
	for i := range count {
		if from := i * all / count; from+width < all {
			s.stretches = append(s.stretches, stretch{s.pairs[from].Key, s.pairs[from+width].Key})
		}
	}
	s.most.bytes = max(s.most.bytes, s.bytes)
	s.pairs, s.bytes = nil, 0
	return true
}

// errSampleChanged is the error for a list that had different keys when it was read again.
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

// likeKeys returns the number of keys in the list in which the sample's neighbors are neighbors.
func (s *KeySample) likeKeys() float64 {
	if s.stretches == nil {
		return float64(len(s.pairs))
	}
	return float64(s.Keys)
}

// thinned returns a random share of the pairs.
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
