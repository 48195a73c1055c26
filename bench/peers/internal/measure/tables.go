package measure

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// write writes whole tables on so many cores, and tells MB/s of keys and
// values. No more than these cores run Go code, the collector's included.
func write(cores int) func(s *stand) (task, error) {
	return func(s *stand) (task, error) {
		o := s.options
		o.Cores = cores
		once := func() (int, error) { return 1, s.engine.Write(s.data.pairs, o) }
		return func(d time.Duration) (sample, error) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			took, err := timed(d, once)
			return counted(float64(s.data.pairs.Bytes()) / took.value * 1e3), err
		}, nil
	}
}

// open opens and closes the table.
func open(s *stand) (task, error) {
	return timing(func() (int, error) { return 1, s.table.OpenClose() }), nil
}

// resident tells what an open table takes, per entry.
func resident(s *stand) (task, error) {
	return func(time.Duration) (sample, error) {
		bytes, err := s.table.Resident()
		return counted(float64(bytes) / float64(s.data.pairs.Keys.N)), err
	}, nil
}

// perFilter is how many of W1's entries the filters of a table have. filterKeys
// are few enough to stay in the processor's cache.
const (
	perFilter  = 35
	filterKeys = 1000 * perFilter
)

// filters starts what is done with filters of the first keys.
func filters(start func(s *stand, f engine.Filters, keys engine.Packed) (task, error)) func(s *stand) (task, error) {
	return func(s *stand) (task, error) {
		f, err := s.engine.NewFilters(s.options.BitsPerKey, perFilter)
		if err != nil {
			return nil, err
		}
		if c, ok := f.(io.Closer); ok {
			s.opened = append(s.opened, c)
		}
		keys := s.data.pairs.Keys.Slice(0, min(filterKeys, s.data.pairs.Keys.N))
		if err := f.Build(keys); err != nil {
			return nil, err
		}
		return start(s, f, keys)
	}
}

func filterBuild(_ *stand, f engine.Filters, keys engine.Packed) (task, error) {
	return timing(func() (int, error) { return keys.N, f.Build(keys) }), nil
}

func filterHit(_ *stand, f engine.Filters, keys engine.Packed) (task, error) {
	return timing(func() (int, error) {
		n, err := f.Contains(keys)
		if err == nil && n != keys.N {
			err = fmt.Errorf("filters deny %d of their %d keys", keys.N-n, keys.N)
		}
		return keys.N, err
	}), nil
}

func filterMiss(s *stand, f engine.Filters, keys engine.Packed) (task, error) {
	absent := s.data.absent.Slice(0, keys.N)
	return timing(func() (int, error) {
		n, err := f.Contains(absent)
		if err == nil && n > keys.N/10+10 {
			err = fmt.Errorf("filters may contain %d of %d absent keys", n, keys.N)
		}
		return keys.N, err
	}), nil
}
