package command

import (
	"io"
	"strconv"

	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A keyCounter passes each key on once, with the number of times that it came in place of its value.
// Equal keys must come one after the other. It holds the last key back until finish.
type keyCounter struct {
	appender
	compare func(a, b []byte) int
	last    []byte // the key that is counted, if count > 0
	count   uint64
	leftOut int // number of values that were not empty
}

// Append counts key. The order is checked here, so that the error comes with the pair that breaks it.
func (c *keyCounter) Append(key, value []byte) error {
	if len(value) > 0 {
		c.leftOut++
	}
	order := -1
	if c.count > 0 {
		order = c.compare(c.last, key)
	}
	if order == 0 {
		c.count++
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	if order > 0 {
		return c.appender.Append(key, nil) // which returns the error
	}
	c.last, c.count = append(c.last[:0], key...), 1
	return nil
}

// flush passes the last key on.
func (c *keyCounter) flush() error {
	if c.count == 0 {
		return nil
	}
	n := c.count
	c.count = 0
	return c.appender.Append(c.last, strconv.AppendUint(nil, n, 10))
}

// finish passes the last key on, and prints what was left out.
func (c *keyCounter) finish(stderr io.Writer) error {
	if c.leftOut > 0 {
		text.Note(stderr, "left out %s, because --on-duplicate count keeps numbers only", text.Count(uint64(c.leftOut), "value"))
	}
	return c.flush()
}
