package rates

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
)

// A Limit bounds the distinct keys of the user, all of which are kept in memory.
type Limit struct{ keys, bytes int }

// OwnLimit is the Limit of Config.Own.
var OwnLimit = Limit{keys: 2 * maxLoadTenths / 10 * MaxKeys, bytes: 256 << 20}

// ownShare returns how many keys of the user there must be for each key that a filter is sized for:
// half of them are added, and half are asked for.
func (c Config) ownShare() int {
	if c.K.isNone() {
		return 2 * maxLoadTenths / 10
	}
	return 2
}

// Distinct returns the distinct keys, sorted, and the number of all keys. More distinct keys
// than the Limit are an error.
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
			return nil, 0, fmt.Errorf("more than %s distinct keys or %s bytes of keys: sample the lines, for example with shuf -n 1000000",
				figures.Grouped(l.keys), figures.Grouped(l.bytes))
		}
	}
	distinct = make([][]byte, 0, len(set))
	for key := range set {
		distinct = append(distinct, []byte(key))
		delete(set, key) // so that there are not two copies of all keys at a time
	}
	slices.SortFunc(distinct, slices.Compare)
	return distinct, all, nil
}

// checkEvery is how many keys are added between two checks of the memory.
const checkEvery = 1 << 16

// growth returns how many bytes the next checkEvery keys take at most, if they are not much longer than the n before:
// the set of all keys can be copied to a larger one.
func growth(n, size int) uint64 {
	const perKey = 96
	return uint64(n+checkEvery)*perKey + uint64(size)/uint64(n+1)*checkEvery
}

// OwnSize returns how many keys filters can be sized for with the keys of the user, at least 1.
func (c Config) OwnSize() int { return max(1, len(c.Own)/c.ownShare()) }

// OwnLookups says how many of the user's keys each run adds at most, and how many of the
// others it looks up.
func (c Config) OwnLookups() string {
	added := c.mostKeys()
	return fmt.Sprintf("each run adds up to %s and looks up %s others", figures.Grouped(added), figures.Grouped(min(c.Lookups, len(c.Own)-added)))
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
