package plan

import (
	"iter"
	"math/rand/v2"

	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// minOwnLookups is less than minLookups, since each lookup requires a key in a filter too.
const minOwnLookups = 1_000_000

// measure builds the Option's filters of a random half of the sample's keys, and looks up the others to measure
// the rate of false positives. It repeats this with other halves until there are enough lookups. A table filter
// gets at most maxKeys. The keys of a filter are neighbors, and the keys looked up are between them, as in a set.
// The result is reproducible.
func (s *KeySample) measure(o Option, maxKeys int) (Measurement, error) {
	lookups := lookupsFor(o, minOwnLookups)
	const part = 5.0 / 12 // a half of the keys almost certainly fills a table of this share
	most := int(part * float64(len(s.pairs)))
	block := max(1, min(o.KeysPerFilter, most))
	n := block
	if o.TableFilter != "" {
		n = min(int(o.KeysPerTable), maxKeys, most)
	}
	block = min(block, n)
	var hits []int
	asked := 0
	for seed := uint64(1); asked < lookups; seed++ {
		found := 0
		for keys, absent := range trialTables(s.pairs, n, rand.New(rand.NewPCG(1, seed))) {
			f, err := o.build(func(i int) []byte { return keys[i] }, n, block, n)
			if err != nil {
				return Measurement{}, err
			}
			for _, a := range absent { // check the block that the key would be in
				if f.mayContain(a.key, a.after/block) {
					found++
				}
			}
			asked += len(absent)
		}
		hits = append(hits, found)
	}
	return newMeasurement(hits, asked, n), nil
}

// An absentKey is an absent key, and the number of a table's keys before it.
type absentKey struct {
	key   []byte
	after int
}

// trialTables divides the pairs at random into keys of tables of n keys, and absent keys between them. It drops a
// last table that is not full. A table is valid until the next one.
func trialTables(pairs []input.Pair, n int, rng *rand.Rand) iter.Seq2[[][]byte, []absentKey] {
	return func(yield func([][]byte, []absentKey) bool) {
		var keys [][]byte
		var absent []absentKey
		random, bits := uint64(0), 0
		for _, p := range pairs {
			if bits == 0 {
				random, bits = rng.Uint64(), 64
			}
			isKey := random&1 == 1
			random, bits = random>>1, bits-1
			if !isKey {
				absent = append(absent, absentKey{p.Key, len(keys)})
				continue
			}
			if keys = append(keys, p.Key); len(keys) == n {
				if !yield(keys, absent) {
					return
				}
				keys, absent = keys[:0], absent[:0]
			}
		}
	}
}
