// Package workload generates the keys and values of benchmarks and golden tables. They are the
// same on every machine and in every run.
package workload

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A Set is the contents of a table, with keys to look up.
type Set struct {
	Keys   [][]byte // in ascending order
	Values [][]byte // one per key
	Absent [][]byte // keys that are not in the table, in random order
	Hits   []int    // the indexes of Keys, each once, in random order
}

// Pairs returns the entries. They share the memory of keys and values.
func (s Set) Pairs() []Pair {
	pairs := make([]Pair, len(s.Keys))
	for i, k := range s.Keys {
		pairs[i] = Pair{k, s.Values[i]}
	}
	return pairs
}

// Bytes returns the size of all keys and values.
func (s Set) Bytes() int64 {
	var n int64
	for i := range s.Keys {
		n += int64(len(s.Keys[i]) + len(s.Values[i]))
	}
	return n
}

// W1 returns n entries. Their keys have 16 bytes: "user" and a random number of twelve digits.
// Their values have 100 bytes, the same 50 random bytes twice, and compress to about half. The
// absent keys are n further numbers.
func W1(n int) Set {
	rng := rand.New(rand.NewPCG(1, 1))
	keys := userKeys(rng, 2*n)
	s := Set{Keys: keys[:n:n], Absent: keys[n:], Values: make([][]byte, n), Hits: rng.Perm(n)}
	slices.SortFunc(s.Keys, bytes.Compare)
	Pack(s.Keys)
	values := make([]byte, 0, 100*n)
	for i := range n {
		for range 50 {
			values = append(values, byte(rng.Uint64()>>56))
		}
		values = append(values, values[len(values)-50:]...)
		s.Values[i] = values[100*i : 100*(i+1) : 100*(i+1)]
	}
	return s
}

// Users returns n distinct keys in random order. They have the form of W1's keys, and are adjacent in memory.
func Users(n int) [][]byte { return userKeys(rand.New(rand.NewPCG(6, 6)), n) }

// RandomBytes returns n random bytes.
func RandomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Pack moves the keys into one piece of memory, in their order, so that a benchmark that iterates over them does not
// measure the cache misses of doing so.
func Pack(keys [][]byte) {
	all := slices.Concat(keys...)
	for i, k := range keys {
		keys[i] = all[:len(k):len(k)]
		all = all[len(k):]
	}
}

// userKeys returns n distinct keys in random order.
func userKeys(rng *rand.Rand, n int) [][]byte {
	keys := make([][]byte, 0, n)
	seen := make(map[uint64]bool, n)
	all := make([]byte, 0, 16*n)
	for len(keys) < n {
		number := rng.Uint64() % 1e12
		if seen[number] {
			continue
		}
		seen[number] = true
		all = fmt.Appendf(all, "user%012d", number)
		keys = append(keys, all[len(all)-16:len(all):len(all)])
	}
	return keys
}
