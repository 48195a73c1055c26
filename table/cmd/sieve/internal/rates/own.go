package rates

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
)

// A Limit bounds the user's distinct keys, which are all kept in memory.
type Limit struct{ keys, bytes int }

// OwnLimit is the Limit for Config.Own.
var OwnLimit = Limit{keys: 2 * maxLoadTenths / 10 * MaxKeys, bytes: 256 << 20}

// ownShare returns the number of user's keys required for each key that a filter is sized for: half of them are
// added, and half are looked up as absent keys.
func (c Config) ownShare() int {
	if c.K.isNone() {
		return 2 * maxLoadTenths / 10
	}
	return 2
}

// Distinct returns the distinct keys, sorted, and the number of all keys. If the distinct keys exceed the Limit,
// it returns an error.
func (l Limit) Distinct(keys iter.Seq2[[]byte, error]) (distinct [][]byte, all int, err error) {
	set, size := map[string]struct{}{}, 0
	for key, err := range keys {
		if err != nil {
			return nil, 0, err
		}
		if all++; all%checkEvery == 0 {
			if err := memory.Check("the keys of --keys-from", growth(len(set), size), "sample the lines, for example with shuf -n 100000, or raise the limit"); err != nil {
				return nil, 0, err
			}
		}
		if _, found := set[string(key)]; !found {
			set[string(key)] = struct{}{}
			size += len(key)
		}
		if len(set) > l.keys || size > l.bytes {
			return nil, 0, fmt.Errorf("--keys-from has more than %s distinct keys or %s bytes of keys: sample the lines, for example with shuf -n 1000000",
				figures.Grouped(l.keys), figures.Grouped(l.bytes))
		}
	}
	distinct = make([][]byte, 0, len(set))
	for key := range set {
		distinct = append(distinct, []byte(key))
		delete(set, key) // avoids having two copies of all keys at once
	}
	slices.SortFunc(distinct, slices.Compare)
	return distinct, all, nil
}

// checkEvery is the number of keys between two checks of the memory.
const checkEvery = 1 << 16

// growth returns the most bytes that the next checkEvery keys may take, if they are not much longer than the n
// before. The set of all keys may be copied to a larger one.
func growth(n, size int) uint64 {
	const perKey = 96
	return uint64(n+checkEvery)*perKey + uint64(size)/uint64(n+1)*checkEvery
}

// OwnSize returns the number of keys that filters can be sized for with the user's keys, at least 1.
func (c Config) OwnSize() int { return max(1, len(c.Own)/c.ownShare()) }

// OwnLookups describes how many of the user's keys each run adds at most, and how many of the others it looks up.
func (c Config) OwnLookups() string {
	added := c.mostKeys()
	return fmt.Sprintf("each run adds up to %s and looks up %s others", figures.Grouped(added), figures.Grouped(min(c.Lookups, len(c.Own)-added)))
}

// permutation is like rng.Perm, but takes half the memory.
func permutation(rng *rand.Rand, n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
