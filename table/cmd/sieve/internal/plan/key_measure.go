package plan

import (
	"math/rand/v2"

	"github.com/sievetable/sievetable/filter"
)

// minOwnLookups is less than minLookups, since each lookup takes a key in a filter too.
const minOwnLookups = 1_000_000

// measure builds filters of a half of the sample's keys, as the Option has them, and returns the
// share of the others for which they answer "may contain". Other halves follow until there were
// enough lookups. A table's filter gets at most maxKeys. The keys of a filter are neighbours, and it is
// asked for keys between them, as in a set. The result is reproducible.
func (s *KeySample) measure(o Option, maxKeys int) (Measurement, error) {
	lookups := lookupsFor(o, minOwnLookups)
	const part = 5.0 / 12 // in a half of the keys there is a table of so many, almost certainly
	most := int(part * float64(len(s.pairs)))
	t := trialTable{o: o, block: max(1, min(o.KeysPerFilter, most))}
	t.keys = t.block
	if !o.table.isNone() {
		t.keys = min(int(o.KeysPerTable), maxKeys, most)
	}
	t.block = min(t.block, t.keys)
	var hits []int
	asked := 0
	for seed := uint64(1); asked < lookups; seed++ {
		h, n, err := t.round(s.pairs, rand.New(rand.NewPCG(1, seed)))
		if err != nil {
			return Measurement{}, err
		}
		hits, asked = append(hits, h), asked+n
	}
	return newMeasurement(hits, asked, t.keys), nil
}

// A trialTable gets keys in order, and is asked for others once it is full.
type trialTable struct {
	o     Option
	keys  int // of a table
	block int // keys of a filter by blocks

	added  int
	table  filter.TableGenerator // nil: no filter of the whole table
	blocks filter.Generator
	absent [][]byte // to be looked up in the block
	passed [][]byte // keys that the filters of the blocks before do not exclude
	asked  int      // of the table
}

// round divides the pairs by chance into keys of tables and absent ones. Those of a last table that is not
// full do not count.
func (t *trialTable) round(pairs []pair, rng *rand.Rand) (hits, asked int, err error) {
	t.start()
	random, bits := uint64(0), 0
	for _, p := range pairs {
		if bits == 0 {
			random, bits = rng.Uint64(), 64
		}
		isKey := random&1 == 1
		random, bits = random>>1, bits-1
		if !isKey {
			t.absent = append(t.absent, p.key)
			continue
		}
		if t.add(p.key); t.added == t.keys {
			h, err := t.finish()
			if err != nil {
				return 0, 0, err
			}
			hits, asked = hits+h, asked+t.asked
			t.start()
		}
	}
	return hits, asked, nil
}

// start makes the table empty.
func (t *trialTable) start() {
	t.added, t.asked = 0, 0
	t.absent, t.passed = t.absent[:0], t.passed[:0]
	t.blocks = filter.NewBloom(t.o.BlockBits).NewGenerator()
	if t.table = nil; !t.o.table.isNone() {
		t.table = t.o.table.policy().NewTableGenerator()
	}
}

// add adds a key, and completes the filter of its block if that is full.
func (t *trialTable) add(key []byte) {
	if t.table != nil {
		t.table.Add(key)
	}
	if t.o.BlockBits > 0 {
		t.blocks.Add(key)
	}
	if t.added++; t.added%t.block == 0 {
		t.askBlock()
	}
}

// askBlock asks the filter of a block for the absent keys.
func (t *trialTable) askBlock() {
	t.asked += len(t.absent)
	var contents filter.Bytes
	if t.o.BlockBits > 0 {
		t.blocks.Generate(&contents)
	}
	for _, key := range t.absent {
		if t.o.BlockBits == 0 || (filter.Bloom{}).Contains(contents, key) {
			t.passed = append(t.passed, key)
		}
	}
	t.absent = t.absent[:0]
}

// finish completes the table, and returns how many absent keys all filters take for keys of it.
func (t *trialTable) finish() (hits int, err error) {
	t.askBlock()
	if t.table == nil {
		return len(t.passed), nil
	}
	contents, err := t.table.Generate()
	if err != nil {
		return 0, err
	}
	f, err := t.o.table.policy().Open(contents)
	if err != nil {
		return 0, err
	}
	for _, key := range t.passed {
		if f.Contains(key) {
			hits++
		}
	}
	return hits, nil
}
