package plan

import (
	"iter"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// minOwnLookups is less than minLookups, since each lookup requires a key in a filter too.
const minOwnLookups = 1_000_000

// A trial is a measurement of filters with a sample's keys.
type trial struct {
	blockBits int
	table     tableFilter
	n, block  int // keys per table and per block filter
	lookups   int
}

// measure measures the rate of the Option's filters, unless the same filters were measured before, for tables without
// data or with blocks of another size. A table filter gets at most maxKeys.
func (s *KeySample) measure(o Option, maxKeys int) (Measurement, error) {
	const part = 5.0 / 12 // a half of the keys almost certainly fills a table of this share
	most := int(part * float64(len(s.pairs)))
	block := max(1, min(o.KeysPerFilter, most))
	n := block
	if o.TableFilter != "" {
		n = min(int(o.KeysPerTable), maxKeys, most)
	}
	// 2n neighbors can be divided into a table's keys and absent keys in 4^n ways, so more lookups would repeat others.
	distinct := max(minOwnLookups, float64(len(s.pairs))/2*math.Pow(4, float64(n)))
	lookups := int(min(distinct, float64(lookupsFor(o, minOwnLookups))))
	t := trial{o.BlockBits, o.table, n, min(block, n), lookups}
	s.mu.Lock()
	run, ok := s.trials[t]
	if !ok {
		run = sync.OnceValues(func() (Measurement, error) { return s.run(t) })
		s.trials[t] = run
	}
	s.mu.Unlock()
	return run()
}

// run builds filters of a random half of the sample's keys, and looks up the others to measure the rate of false
// positives. It repeats this with other halves until there are enough lookups. The keys of a filter are neighbors, and
// the keys looked up are between them, as in a set. The result is reproducible.
func (s *KeySample) run(t trial) (Measurement, error) {
	var hits []int
	asked, b := 0, newBuilder(t.blockBits, t.table)
	for seed := uint64(1); asked < t.lookups; seed++ {
		found := 0
		for keys, absent := range trialTables(s.pairs, t.n, rand.New(rand.NewPCG(1, seed))) {
			f, err := b.build(func(i int) []byte { return keys[i] }, t.n, t.block, t.n)
			if err != nil {
				return Measurement{}, err
			}
			for _, a := range absent { // check the block that the key would be in
				if f.mayContain(a.key, a.after/t.block) {
					found++
				}
			}
			asked += len(absent)
		}
		hits = append(hits, found)
	}
	return newMeasurement(hits, asked, t.n), nil
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
		keys, absent := make([][]byte, 0, n), make([]absentKey, 0, n)
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
