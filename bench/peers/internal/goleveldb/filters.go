package goleveldb

import (
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// NewFilters returns filters of perFilter keys each.
func (e Engine) NewFilters(bitsPerKey, perFilter int) (engine.Filters, error) {
	if e.Cache {
		return nil, engine.ErrNone
	}
	policy := filter.NewBloomFilter(bitsPerKey)
	return &filters{policy: policy, gen: policy.NewGenerator(), per: perFilter}, nil
}

type filters struct {
	policy filter.Filter
	gen    filter.FilterGenerator
	per    int
	buf    util.Buffer
	ends   []int // of each filter in buf
}

func (f *filters) Build(keys engine.Packed) error {
	f.ends = f.ends[:0]
	clear(f.buf.Bytes()) // the generator wants memory that is zero
	f.buf.Reset()
	for from := 0; from < keys.N; from += f.per {
		some := keys.Slice(from, min(from+f.per, keys.N))
		for data := some.Data; len(data) > 0; data = data[some.Width:] {
			f.gen.Add(data[:some.Width])
		}
		f.gen.Generate(&f.buf)
		f.ends = append(f.ends, f.buf.Len())
	}
	return nil
}

func (f *filters) Contains(keys engine.Packed) (positives int, err error) {
	start := 0
	all := f.buf.Bytes()
	for n, end := range f.ends {
		one := all[start:end]
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
