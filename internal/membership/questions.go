package membership

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/internal/workload"
)

// Keys returns n keys in ascending order. Larger sets contain them too.
func (p *Pool) Keys(n int) [][]byte {
	keys := slices.Clone(p.members[:n])
	slices.SortFunc(keys, bytes.Compare)
	workload.Pack(keys)
	return keys
}

// Absent returns keys that no set contains, in random order.
func (p *Pool) Absent() [][]byte { return p.absent }

// Present returns as many keys of the set of n keys, drawn at random. They are copies, so that a lookup does not
// bring the set's own key into the processor's cache.
func (p *Pool) Present(n int) [][]byte {
	rng := rand.New(rand.NewPCG(7, 7))
	keys := make([][]byte, len(p.absent))
	for i := range keys {
		keys[i] = p.members[rng.IntN(n)]
	}
	workload.Pack(keys)
	return keys
}

// counted is the number of lookups that MeanProbes counts: enough for two digits.
const counted = 5000

// MeanProbes returns the mean number of probes of the first lookups, or 0 if the form does not know.
func MeanProbes(s Set, questions [][]byte) float64 {
	questions = questions[:min(len(questions), counted)]
	sum := 0
	for _, k := range questions {
		sum += s.Probes(k)
	}
	return float64(sum) / float64(len(questions))
}
