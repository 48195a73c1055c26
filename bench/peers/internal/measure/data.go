package measure

import (
	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/internal/workload"
)

// data are a table's contents with the questions to ask, packed in the order
// they are asked in.
type data struct {
	pairs  engine.Pairs
	absent engine.Packed
	hits   engine.Packed // keys in a fixed random order: all, or as many as there are in W1
	sparse engine.Packed // every eighth key, in order: some of each block
}

// maxHits keeps the largest workloads' keys from being in memory twice.
const maxHits = 1_000_000

func newData(s workload.Set) *data {
	var eighth [][]byte
	for i := 0; i < len(s.Keys); i += 8 {
		eighth = append(eighth, s.Keys[i])
	}
	d := &data{absent: engine.Pack(s.Absent), sparse: engine.Pack(eighth)}
	d.pairs.Keys = engine.Pack(s.Keys)
	d.pairs.Values = engine.Pack(s.Values)
	d.hits = engine.PackSome(s.Keys, s.Hits[:min(len(s.Hits), maxHits)])
	return d
}
