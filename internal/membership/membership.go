// Package membership looks keys up in a Bloom filter and in what a program would use instead: a sorted slice, a map
// and a list. Benchmarks measure the lookups.
package membership

import "github.com/sievetable/sievetable/internal/workload"

// A Set is a set of keys in some form.
type Set interface {
	// Contains reports whether the set contains key. A filter has false positives.
	Contains(key []byte) bool

	// Probes returns how many bits of a filter Contains(key) checks, or how many keys it compares. It is 0
	// if the form does not know.
	Probes(key []byte) int
}

// A Form is a way to store a set.
type Form struct {
	Name string
	New  func(keys [][]byte) Set // keeps the keys, which are in ascending order
	Most int                     // most keys with which lookups are quick enough to measure
}

// Forms has all forms, the filter first.
var Forms = []Form{
	{Name: "Bloom filter", New: newBloom, Most: Largest},
	{Name: "sorted slice", New: newSorted, Most: Largest},
	{Name: "Go map", New: newHashed, Most: Largest},
	{Name: "list", New: newList, Most: 10_000},
}

// Largest is the number of keys of the largest set that is measured. All of its forms together take some 1.5 GB of
// memory.
const Largest = 10_000_000

// Sizes returns the sizes that are measured: the powers of ten from 10 to most.
func Sizes(most int) []int {
	var sizes []int
	for n := 10; n <= most; n *= 10 {
		sizes = append(sizes, n)
	}
	return sizes
}

// Questions is the number of keys that benchmarks look up, a power of two. They touch far more memory than the
// processor's caches hold, and the processor does not learn the results.
const Questions = 1 << 20

// A Pool has the keys of sets, and keys to look up.
type Pool struct {
	members [][]byte // in random order
	absent  [][]byte
}

// NewPool returns a Pool for sets of up to most keys, with that many keys to look up.
func NewPool(most, questions int) *Pool {
	keys := workload.Users(most + questions)
	return &Pool{members: keys[:most], absent: keys[most:]}
}
