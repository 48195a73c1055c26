package ours

import (
	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/filter"
)

// NewFilters returns filters of perFilter keys each.
func (Engine) NewFilters(bitsPerKey, perFilter int) (engine.Filters, error) {
	policy := filter.NewBloom(bitsPerKey)
	return &filters{policy: policy, gen: policy.NewGenerator(), per: perFilter}, nil
}

type filters struct {
	policy filter.Bloom
	gen    filter.Generator
	per    int
	bytes  filter.Bytes
	ends   []int // of each filter in bytes
}

func (f *filters) Build(keys engine.Packed) error {
	f.bytes, f.ends = f.bytes[:0], f.ends[:0]
	for from := 0; from < keys.N; from += f.per {
		for i := from; i < min(from+f.per, keys.N); i++ {
			f.gen.Add(keys.At(i))
		}
		f.gen.Generate(&f.bytes)
		f.ends = append(f.ends, len(f.bytes))
	}
	return nil
}

func (f *filters) Contains(keys engine.Packed) (positives int, err error) {
	start := 0
	for n, end := range f.ends {
		from := n * f.per
		for i := from; i < min(from+f.per, keys.N); i++ {
			if f.policy.Contains(f.bytes[start:end], keys.At(i)) {
				positives++
			}
		}
		start = end
	}
	return positives, nil
}
