package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A comparison counts what was compared.
type comparison struct {
	onlyA, onlyB, changed, same uint64
	unknown                     uint64 // of keys that one of the sources has lost
	last                        []byte // the last key
	a, b                        *source.Source
	lostA, lostB                *source.LossCursor
}

// count counts d, and reports whether it is a difference. An entry is none if one of the sources
// has lost the key: it may have another entry, or none.
func (c *comparison) count(d difference) bool {
	c.last = append(c.last[:0], cmp.Or(d.a, d.b).Key...)
	lostA, lostB := c.lostA.IsLost(c.last), c.lostB.IsLost(c.last)
	switch {
	case lostA || lostB:
		c.unknown++
		return false
	case d.a != nil && d.b != nil && bytes.Equal(d.a.Value, d.b.Value):
		c.same++
		return false
	case d.a != nil && d.b != nil:
		c.changed++
	case d.a != nil:
		c.onlyA++
	default:
		c.onlyB++
	}
	return true
}

// print prints the numbers.
func (c *comparison) print(out io.Writer) {
	unknown := ""
	if c.unknown > 0 {
		unknown = fmt.Sprintf(", %d not compared", c.unknown)
	}
	text.Line(out, "%d only in %s, %d only in %s, %d with different values, %d equal%s", c.onlyA, c.a.Path, c.onlyB, c.b.Path, c.changed, c.same, unknown)
}

// endedBy adds to an error where it ended the comparison.
func (c *comparison) endedBy(err error) error {
	if c.onlyA+c.onlyB+c.changed+c.same+c.unknown == 0 {
		return err
	}
	return errors.Join(err, fmt.Errorf("the comparison ended with key %s: what follows was not compared", wire.Quote(c.last)))
}

// negative returns errNegative if there are differences.
func (c *comparison) negative() error {
	if c.onlyA+c.onlyB+c.changed > 0 {
		return errNegative
	}
	return nil
}
