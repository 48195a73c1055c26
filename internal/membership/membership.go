// Package membership asks one question, "is this key in the set?", of a Bloom filter and of
// what a program would use without one. Benchmarks measure how long the answers take.
package membership

import "github.com/sievetable/sievetable/internal/workload"

// A Set is a set of keys in some form.
type Set interface {
	// Contains reports whether the set has key. A filter also reports true for a few keys
	// that the set does not have.
	Contains(key []byte) bool

	// Probes returns how many probes Contains(key) makes: the bits of a filter that it looks
	// at, or the keys that it compares with key. It is 0 if the form cannot tell.
	Probes(key []byte) int
}

// A Form is a way to keep a set.
type Form struct {
	Name string
	New  func(keys [][]byte) Set // the keys are in ascending order, and it keeps them
	Most int                     // number of keys up to which lookups are quick enough to measure
}

// The forms, the filter first.
var Forms = []Form{
	{Name: "Bloom filter", New: newBloom, Most: Largest},
	{Name: "sorted slice", New: newSorted, Most: Largest},
	{Name: "Go map", New: newHashed, Most: Largest},
	{Name: "list", New: newList, Most: 10_000},
}

// Largest is the number of keys of the largest set that is measured. All of its
// forms together take some 1.5 GB of memory.
const Largest = 10_000_000

// Sizes returns the numbers of keys that are measured: the powers of ten from 10 to most.
func Sizes(most int) []int {
	var sizes []int
	for n := 10; n <= most; n *= 10 {
		sizes = append(sizes, n)
	}
	return sizes
}

// Questions is how many keys benchmarks ask for. They touch far more memory than the
// processor's caches hold, and the processor does not learn the answers. It is a power of two.
const Questions = 1 << 20

// A Pool has the keys of sets, and keys to ask them for.
type Pool struct {
	members [][]byte // in random order
	absent  [][]byte
}

// NewPool returns a Pool for sets of up to most keys, with so many questions to ask them.
func NewPool(most, questions int) *Pool {
	keys := workload.Users(most + questions)
	return &Pool{members: keys[:most], absent: keys[most:]}
}
