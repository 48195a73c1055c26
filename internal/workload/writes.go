package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/table/internalkey"
)

// A Write is one write to a database: it sets a key to a value, or deletes it.
type Write struct {
	Key, Value []byte
	Delete     bool
}

// Writes returns several rounds of writes to a database. Each round sets some of the keys to
// values of ≤ size bytes, and deletes some. Tests take snapshots between rounds.
func Writes(rounds, keys, size int) [][]Write {
	rng := rand.New(rand.NewPCG(9, 9))
	all := make([][]Write, rounds)
	for round := range all {
		for i := range keys {
			w := Write{Key: fmt.Appendf(nil, "user%07d", i*7)}
			switch rng.IntN(10) {
			case 0, 1, 2:
				continue
			case 3, 4:
				w.Delete = true
			default:
				w.Value = make([]byte, rng.IntN(size+1))
				for n := range w.Value {
					w.Value[n] = 'a' + byte(rng.IntN(16))
				}
			}
			all[round] = append(all[round], w)
		}
	}
	return all
}

// FewWrites returns the writes in the golden databases.
func FewWrites() [][]Write { return Writes(3, 200, 60) }

// Versions returns the entries of a database that keeps all versions of its keys. The keys are
// internal keys, in their order. The first write has sequence number 1.
func Versions(rounds [][]Write) []Pair {
	type version struct {
		Write
		sequence uint64
	}
	var versions []version
	for _, w := range slices.Concat(rounds...) {
		versions = append(versions, version{w, uint64(len(versions) + 1)})
	}
	slices.SortFunc(versions, func(a, b version) int {
		return cmp.Or(slices.Compare(a.Key, b.Key), cmp.Compare(b.sequence, a.sequence))
	})
	var pairs []Pair
	for _, v := range versions {
		key := internalkey.Key{UserKey: v.Key, Sequence: v.sequence, Kind: internalkey.Set}
		if v.Delete {
			key.Kind = internalkey.Delete
		}
		pairs = append(pairs, Pair{Key: key.Append(nil), Value: v.Value})
	}
	return pairs
}
