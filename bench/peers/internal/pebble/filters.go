package pebble

import (
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// NewFilters returns filters of perFilter keys each.
func (e Engine) NewFilters(bitsPerKey, perFilter int) (engine.Filters, error) {
	if e.DBGet {
		return nil, engine.ErrNone
	}
	policy := bloom.FilterPolicy(bitsPerKey)
	return &filters{policy: policy, gen: policy.NewWriter(sstable.TableFilter), per: perFilter}, nil
}

type filters struct {
	policy bloom.FilterPolicy
	gen    sstable.FilterWriter
	per    int
	bytes  []byte
	ends   []int // of each filter in bytes
}

func (f *filters) Build(keys engine.Packed) error {
	f.bytes, f.ends = f.bytes[:0], f.ends[:0]
	for from := 0; from < keys.N; from += f.per {
		some := keys.Slice(from, min(from+f.per, keys.N))
		for data := some.Data; len(data) > 0; data = data[some.Width:] {
			f.gen.AddKey(data[:some.Width])
		}
		f.bytes = f.gen.Finish(f.bytes)
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
			if f.policy.MayContain(sstable.TableFilter, one, data[:some.Width]) {
				positives++
			}
		}
		start = end
	}
	return positives, nil
}
