package ours

import (
	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/filter"
)

// NewFilters returns filters of perFilter keys each.
func (e Engine) NewFilters(bitsPerKey, perFilter int) (engine.Filters, error) {
	if e.TableFilter {
		return nil, engine.ErrNone
	}
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
		some := keys.Slice(from, min(from+f.per, keys.N))
		for data := some.Data; len(data) > 0; data = data[some.Width:] {
			f.gen.Add(data[:some.Width])
		}
		f.gen.Generate(&f.bytes)
		f.ends = append(f.ends, len(f.bytes))
	}
	return nil
}

func (f *filters) Contains(keys engine.Packed) (positives int, err error) {
	start := 0
	for n, end := range f.ends {
		one := f.bytes[start:end]
		some := keys.Slice(n*f.per, min((n+1)*f.per, keys.N))
		for data := some.Data; len(data) > 0; data = data[some.Width:] {
			if f.policy.Contains(one, data[:some.Width]) {
				positives++
			}
		}
		start = end
	}
	return positives, nil
}
