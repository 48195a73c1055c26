package salvage

import (
	"errors"
	"fmt"
	"sort"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// losses says what was lost between blocks that were found.
type losses struct {
	f      *source.File
	in     image
	blocks []extent
	seen   map[int]ends // by number of the block: many gaps can be next to one
}

// ends are the first key and the last key of a block, as text.
type ends struct{ first, last string }

// of says what bytes could not be read, and between which keys they are.
func (l *losses) of(g gap) Loss {
	next := sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].start >= g.end })
	loss := Loss{fmt.Sprintf("%d bytes at %d", g.end-g.start, g.start), errors.New("no block with a right checksum is there")}
	if next > 0 {
		loss.What += ", after the key " + l.ends(next-1).last
	}
	if next < len(l.blocks) {
		loss.What += ", before the key " + l.ends(next).first
	} else if next > 0 {
		loss.What += ", where filters and the index are, and perhaps more data"
	}
	if g.err != nil {
		loss.Why = fmt.Errorf("a block with a right checksum is there, and cannot be read: %w", g.err)
	}
	if g.givenUp {
		loss.Why = errors.New("the search for blocks there would take too long, and was given up")
	}
	return loss
}

// ends returns the ends of block i, which was open before.
func (l *losses) ends(i int) ends {
	e, ok := l.seen[i]
	if ok {
		return e
	}
	if it, err := l.in.open(l.blocks[i]); err == nil && it.First() {
		e.first = l.f.Separator(it.Key())
		it.Last()
		e.last = l.f.Separator(it.Key())
	}
	l.seen[i] = e
	return e
}
