package measure

import (
	"errors"
	"math"
	"runtime"
	"time"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// chunk is how many keys are asked for in one call: so many that neither the
// clock nor a call into another language matters.
const chunk = 512

// A step does some operations, and returns how many.
type step func() (ops int, err error)

// timed repeats the step until d has passed. The sample's value is in
// nanoseconds per operation.
func timed(d time.Duration, do step) (sample, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	ops := 0
	var took time.Duration
	for took < d || ops == 0 {
		n, err := do()
		if err != nil {
			return sample{}, err
		}
		if n == 0 {
			return sample{}, errors.New("nothing to do")
		}
		ops += n
		took = time.Since(start)
	}
	runtime.ReadMemStats(&after)
	return sample{
		value:  float64(took.Nanoseconds()) / float64(ops),
		allocs: float64(after.Mallocs-before.Mallocs) / float64(ops),
	}, nil
}

// asking returns a step that asks a chunk of keys, going on where it left off.
func asking(keys engine.Packed, ask func(engine.Packed) error) step {
	from := 0
	return func() (int, error) {
		to := min(from+chunk, keys.N)
		part := keys.Slice(from, to)
		if from = to; from == keys.N {
			from = 0
		}
		return part.N, ask(part)
	}
}

// each asks all keys once.
func each(keys engine.Packed, ask func(engine.Packed) error) error {
	do := asking(keys, ask)
	for done := 0; done < keys.N; {
		n, err := do()
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

// together runs the steps at once, each on a goroutine of its own, and returns
// the nanoseconds per operation of all of them.
func together(d time.Duration, steps ...step) (float64, error) {
	type end struct {
		sample sample
		err    error
	}
	ends := make(chan end)
	for _, do := range steps {
		go func() {
			s, err := timed(d, do)
			ends <- end{s, err}
		}()
	}
	rate := 0.0
	var failed error
	for range steps {
		e := <-ends
		failed = errors.Join(failed, e.err)
		rate += 1 / e.sample.value
	}
	return 1 / rate, failed
}

// counted is a sample that no time was taken for.
func counted(value float64) sample { return sample{value: value, allocs: math.NaN()} }
