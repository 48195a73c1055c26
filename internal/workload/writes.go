package workload

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A Write is one write to a database: a key is given a value, or deleted.
type Write struct {
	Key, Value []byte
	Delete     bool
}

// Writes returns that many rounds of writes to a database: each gives some keys a
// value of up to size bytes, and deletes some. Between rounds is the time for
// snapshots.
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

// FewWrites are those that the golden tables of databases are of.
func FewWrites() [][]Write { return Writes(3, 200, 60) }

// Versions returns the entries of a database that kept all versions of its keys:
// internal keys, of which the first write has sequence number 1, in their order.
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
		kind := uint64(1)
		if v.Delete {
			kind = 0
		}
		key := binary.LittleEndian.AppendUint64(slices.Clip(v.Key), v.sequence<<8|kind)
		pairs = append(pairs, Pair{Key: key, Value: v.Value})
	}
	return pairs
}
