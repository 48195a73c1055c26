package rates

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
)

// A limit bounds the distinct keys of the user, all of which are kept in memory.
type limit struct{ keys, bytes int }

var ownLimit = limit{keys: 2 * maxLoadTenths / 10 * MaxKeys, bytes: 256 << 20}

// ownShare returns how many keys of the user there must be for each key that a filter is sized for:
// half of them are added, and half are asked for.
func (c Config) ownShare() int {
	if c.K.isNone() {
		return 2 * maxLoadTenths / 10
	}
	return 2
}

// Distinct returns the distinct keys, sorted, and the number of all keys. More distinct keys
// than ownLimit are an error.
func Distinct(keys iter.Seq2[[]byte, error]) (distinct [][]byte, all int, err error) {
	return ownLimit.distinct(keys)
}

func (l limit) distinct(keys iter.Seq2[[]byte, error]) (distinct [][]byte, all int, err error) {
	set := keySet{seed: maphash.MakeSeed(), at: map[uint64]int32{}, keys: [][]byte{}}
	for key, err := range keys {
		if err != nil {
			return nil, 0, err
		}
		if all++; all%checkEvery == 0 {
			if err := memory.Check("the keys of --keys-from", set.growth(), "give a sample of the lines, such as that of shuf -n 100000, or raise the limit"); err != nil {
				return nil, 0, err
			}
		}
		if set.add(key); len(set.keys) > l.keys || set.size > l.bytes {
			return nil, 0, fmt.Errorf("more than %s distinct keys or %s bytes of them, want at most that many: give a sample of the lines, such as that of shuf -n 1000000",
				grouped(l.keys), grouped(l.bytes))
		}
	}
	slices.SortFunc(set.keys, slices.Compare)
	return set.keys, all, nil
}

// A keySet is distinct keys. It takes less memory than a map of strings, which has a copy of
// each key.
type keySet struct {
	seed maphash.Seed
	at   map[uint64]int32 // positions in keys, by hash; one that is taken by another key counts on
	keys [][]byte
	size int    // of all keys, in bytes
	room []byte // the keys share large pieces of memory, as each piece is rounded up
}

// checkEvery is how many keys are added between two checks of the memory.
const checkEvery = 1 << 16

// growth returns how many bytes the next checkEvery keys take at most, if they are not much longer than those before:
// the slice and the map of all keys can be copied to larger ones.
func (s *keySet) growth() uint64 {
	const perKey = 96
	n := uint64(len(s.keys))
	return (n+checkEvery)*perKey + uint64(s.size)/(n+1)*checkEvery
}

// add adds a copy of the key, if it is new.
func (s *keySet) add(key []byte) {
	h := maphash.Bytes(s.seed, key)
	for at, taken := s.at[h]; taken; at, taken = s.at[h] {
		if bytes.Equal(s.keys[at], key) {
			return
		}
		h++
	}
	if len(key) > cap(s.room)-len(s.room) {
		s.room = make([]byte, 0, max(len(key), 1<<20))
	}
	start := len(s.room)
	s.room = append(s.room, key...)
	s.at[h] = int32(len(s.keys))
	s.keys = append(s.keys, s.room[start:len(s.room):len(s.room)])
	s.size += len(key)
}

// OwnSize returns how many keys filters can be sized for with the keys of the user, at least 1.
func (c Config) OwnSize() int { return max(1, len(c.Own)/c.ownShare()) }

// validateOwn returns an error if the user gives too few keys.
func (c Config) validateOwn() error {
	if want := c.ownShare() * c.Keys; c.Own != nil && len(c.Own) < want {
		return cli.UsageErrorf("--keys-from has %s distinct keys, want ≥ %s, because filters sized for %s get up to %s, and as many others are asked for: use a smaller -n (≥ %d) or more keys",
			grouped(len(c.Own)), grouped(want), grouped(c.Keys), grouped(c.mostKeys()), MinKeys)
	}
	return nil
}

// OwnQuestions returns how many of the user's keys each run adds at most, and how many of the
// others it asks for.
func (c Config) OwnQuestions() (added, asked int) {
	added = c.mostKeys()
	return added, min(c.Questions, len(c.Own)-added)
}

// ownShape is the shape of the user's keys. A run draws from them in random order.
func (c Config) ownShape() keyShape {
	return keyShape{
		name:  "own",
		label: "your keys",
		about: grouped(len(c.Own)) + " keys",
		start: func(rng *rand.Rand) func(int) [][]byte {
			order := permutation(rng, len(c.Own))
			return func(n int) [][]byte {
				n = min(n, len(order))
				keys := make([][]byte, n)
				for i, at := range order[:n] {
					keys[i] = c.Own[at]
				}
				order = order[n:]
				return keys
			}
		},
	}
}

// permutation returns the numbers < n in random order, in half the memory of rng.Perm.
func permutation(rng *rand.Rand, n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
