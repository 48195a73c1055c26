package fpr

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/filter"
)

// Trials returns the number of trials that Measure makes.
func (c Config) Trials() int { return len(c.Shapes) * c.Runs }

// Measure runs all trials, as many in parallel as there are processors. It calls done after
// each trial, from any goroutine. The result depends on c alone. It has a Point for each
// shape, bits per key and load, in this order.
func Measure(c Config, done func()) ([]Point, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	rates := make([][][]float64, c.Trials())
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range rates {
		group.Go(func() (err error) {
			rates[i], err = c.trial(shapeIndex(c.Shapes[i/c.Runs]), i%c.Runs)
			done()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return c.points(rates), nil
}

// trial generates the keys of one run of a shape. It returns the rate for each number of
// bits per key and each load.
func (c Config) trial(shape, run int) ([][]float64, error) {
	next := keyShapes[shape].start(newRand(c.Seed, shape, run))
	keys := nextKeys(c.keysAt(maxLoadTenths), next)
	absent := nextKeys(c.Questions, next)
	rates := make([][]float64, len(c.Bits))
	for b, bits := range c.Bits {
		p := newPlannedFilter(c.Keys, bits)
		for i := 1; i <= maxLoadTenths; i++ {
			f, err := p.build(keys[:c.keysAt(i)])
			if err != nil {
				return nil, err
			}
			rates[b] = append(rates[b], falsePositiveRate(f, absent))
		}
	}
	return rates, nil
}

// newRand returns the random source of one run of a shape.
func newRand(seed uint64, shape, run int) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(shape))
	binary.LittleEndian.PutUint64(key[16:], uint64(run))
	return rand.New(rand.NewChaCha8(key))
}

// falsePositiveRate returns the share of absent keys for which the filter answers "may
// contain".
func falsePositiveRate(f []byte, absent [][]byte) float64 {
	var policy filter.Bloom
	hits := 0
	for _, key := range absent {
		if policy.Contains(f, key) {
			hits++
		}
	}
	return float64(hits) / float64(len(absent))
}
