package measure

import (
	"errors"
	"fmt"
	"time"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A task measures once, for about d.
type task func(d time.Duration) (sample, error)

// A work is what each engine is measured at.
type work struct {
	id, title string
	x         float64
	unit      Unit
	allocs    bool // are worth telling
	once      bool // counts, which are the same in each round
	start     func(s *stand) (task, error)
}

func timing(do step) task {
	return func(d time.Duration) (sample, error) { return timed(d, do) }
}

// get looks up keys that are there, or not.
func get(m engine.Mode, present bool) func(s *stand) (task, error) {
	return func(s *stand) (task, error) {
		c, err := s.cursor(m)
		if err != nil {
			return nil, err
		}
		return timing(getting(s.data.questions(present), c, present)), nil
	}
}

func getting(keys engine.Packed, c engine.Cursor, present bool) step {
	return asking(keys, func(keys engine.Packed) error { return c.Get(keys, present) })
}

func (d *data) questions(present bool) engine.Packed {
	if present {
		return d.hits
	}
	return d.absent
}

// appendGet looks up keys that are there, into memory of the caller's.
func appendGet(s *stand) (task, error) {
	c, err := s.cursor(engine.Cold)
	if err != nil {
		return nil, err
	}
	a, ok := c.(engine.Appender)
	if !ok {
		return nil, engine.ErrNone
	}
	return timing(asking(s.data.hits, a.AppendGet)), nil
}

// seek moves an iterator to keys that are there.
func seek(s *stand) (task, error) {
	c, err := s.cursor(engine.Warm)
	if err != nil {
		return nil, err
	}
	return timing(asking(s.data.hits, c.SeekGE)), nil
}

// scan goes over all entries.
func scan(m engine.Mode, backward bool) func(s *stand) (task, error) {
	return func(s *stand) (task, error) {
		c, err := s.cursor(m)
		if err != nil {
			return nil, err
		}
		want := s.data.pairs.Bytes()
		return timing(func() (int, error) {
			n, err := c.Scan(backward)
			if err == nil && n != want {
				err = fmt.Errorf("a scan met %d of %d bytes", n, want)
			}
			return s.data.pairs.Keys.N, err
		}), nil
	}
}

// scaling looks keys up on one goroutine, then on two. What is measured is how
// many times as many lookups two make. Each has half of the keys: else one would
// find in the processor's caches what the other just asked for. Two that are not
// measured come first, as other engines have left these caches full of theirs. One
// and two have several turns each, since the machine is now faster, now slower.
func scaling(present bool) func(s *stand) (task, error) {
	const turns = 4
	return func(s *stand) (task, error) {
		r, err := s.reader(engine.Warm)
		if err != nil {
			return nil, err
		}
		var steps [2]step
		keys := s.data.questions(present)
		for i := range steps {
			c, err := s.cursorOf(r)
			if err != nil {
				return nil, err
			}
			steps[i] = getting(keys.Slice(i*keys.N/2, (i+1)*keys.N/2), c, present)
		}
		return func(d time.Duration) (sample, error) {
			if _, err := together(d/2, steps[:]...); err != nil {
				return sample{}, err
			}
			var one, two float64
			for range turns {
				once, err := together(d/turns, steps[0])
				twice, err2 := together(d/turns, steps[:]...)
				if err := errors.Join(err, err2); err != nil {
					return sample{}, err
				}
				one, two = one+once, two+twice
			}
			return counted(one / two), nil
		}, nil
	}
}

// counting returns what is counted per lookup.
func counting(present bool, count func(engine.Counts) int64) func(s *stand) (task, error) {
	return func(s *stand) (task, error) {
		r, err := s.reader(engine.Counting)
		if err != nil {
			return nil, err
		}
		c, err := s.cursorOf(r)
		if err != nil {
			return nil, err
		}
		q := s.data.questions(present)
		if present || s.options.BitsPerKey == 0 { // all read a data block
			q = q.Slice(0, min(q.N, readingLookups))
		}
		return func(time.Duration) (sample, error) { return countLookups(q, r, c, present, count) }, nil
	}
}

// readingLookups are how many lookups are counted if no filter answers them. Else all are: false
// positives are few.
const readingLookups = 200_000

func countLookups(q engine.Packed, r engine.Reader, c engine.Cursor, present bool, count func(engine.Counts) int64) (sample, error) {
	before, err := r.Counts()
	if err != nil {
		return sample{}, err
	}
	if count(before) < 0 {
		return sample{}, engine.ErrNone
	}
	if err := each(q, func(keys engine.Packed) error { return c.Get(keys, present) }); err != nil {
		return sample{}, err
	}
	after, err := r.Counts()
	return counted(float64(count(after)-count(before)) / float64(q.N)), err
}
