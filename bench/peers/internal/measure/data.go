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
	hits   engine.Packed // all keys in a fixed random order
	sparse engine.Packed // every eighth key, in order: some of each block
}

func newData(s workload.Set) *data {
	var eighth [][]byte
	for i := 0; i < len(s.Keys); i += 8 {
		eighth = append(eighth, s.Keys[i])
	}
	d := &data{absent: engine.Pack(s.Absent, nil), sparse: engine.Pack(eighth, nil)}
	d.pairs.Keys = engine.Pack(s.Keys, nil)
	d.pairs.Values = engine.Pack(s.Values, nil)
	d.hits = engine.Pack(s.Keys, s.Hits)
	return d
}
