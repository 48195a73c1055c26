package rates

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/table/cmd/internal/memory"
)

// Trials returns the number of trials that Measure makes.
func (c Config) Trials() int { return len(c.shapes()) * c.Runs }

// Measure runs all trials, as many in parallel as there are processors and memory for. It calls done after each
// trial, from any goroutine. c must be valid. The result depends only on c. It has a Point for each shape, policy,
// bits per key and load or k, in this order.
func Measure(c Config, done func()) ([]Point, error) {
	policies, err := c.sizedPolicies()
	if err != nil {
		return nil, err
	}
	shapes := c.shapes()
	points := c.points(shapes, policies)
	perShape := len(points) / len(shapes)
	var group errgroup.Group
	group.SetLimit(min(runtime.GOMAXPROCS(0), c.trialsInMemory()))
	for i, shape := range shapes {
		for run := range c.Runs {
			group.Go(func() error {
				defer done()
				return c.try(shape, run, policies, points[i*perShape:(i+1)*perShape])
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i := range points {
		points[i].summarize()
	}
	return points, nil
}

// Approximate sizes in bytes, rather too large.
const (
	trialMemory     = 640 << 20 // of all trials that run in parallel
	keyMemory       = 80        // of a key in a trial: its slice, and its part of a filter under construction
	generatedMemory = 80        // of a generated key, in addition
	orderMemory     = 4         // of a user's key: its number in the random order
)

// TrialMemory returns the number of bytes that a trial takes.
func (c Config) TrialMemory() uint64 {
	keys, each := c.mostKeys()+c.Lookups, keyMemory
	if len(c.Shapes) > 0 {
		each += generatedMemory
	}
	return uint64(keys)*uint64(each) + uint64(len(c.Own))*orderMemory // an int can have 32 bits
}

// trialsInMemory returns the number of parallel trials that fit into memory, at least 1.
func (c Config) trialsInMemory() int {
	return int(max(1, min(trialMemory, memory.Left())/c.TrialMemory()))
}

// try measures all policies with the keys of one run of a shape, and sets the run's rates.
func (c Config) try(shape keyShape, run int, policies []sizedPolicy, points []Point) (err error) {
	next := shape.start(newRand(c.Seed, shape.seed, run))
	keys := next(c.mostKeys())
	absent := next(c.Lookups)
	steps := c.steps()
	for i, p := range policies {
		var f measuredFilter
		for j, s := range steps {
			added := 0
			if j > 0 && s.k == 0 {
				added = steps[j-1].keys
			} else if f, err = p.empty(c.Keys, p.bits, s.k); err != nil {
				return err
			}
			for _, key := range keys[added:s.keys] {
				f.Add(key)
			}
			if err := f.build(keys[:s.keys]); err != nil {
				return err
			}
			points[i*len(steps)+j].set(run, f, absent)
		}
	}
	return nil
}

// newRand returns the random source of one run of a shape.
func newRand(seed uint64, shape, run int) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(shape))
	binary.LittleEndian.PutUint64(key[16:], uint64(run))
	return rand.New(rand.NewChaCha8(key))
}
