package salvage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table/codecs"
)

// A Loss is a part of a table that could not be read.
type Loss struct {
	What string // such as "the keys > … and ≤ …" or "18 bytes at 0, …"
	Why  error
}

// Losses lists the first losses, and counts the others.
type Losses struct {
	First []Loss

	More    int                   // number of other losses
	Bytes   int64                 // size of the other losses in the file
	Largest *codecs.TooLargeError // the largest of the other blocks that are too large; nil: none is
}

// maxListedLosses is the maximum length of Losses.First.
const maxListedLosses = 100

// Any reports whether there is a loss.
func (l *Losses) Any() bool { return len(l.First) > 0 }

// anyTooLarge reports whether a lost block is too large for the limit.
func (l *Losses) anyTooLarge() bool {
	return l.Largest != nil || slices.ContainsFunc(l.First, func(l Loss) bool {
		return errors.As(l.Why, new(*codecs.TooLargeError))
	})
}

// add adds a loss of that many bytes of the file.
func (l *Losses) add(what func() string, bytes int, why error) {
	if len(l.First) < maxListedLosses {
		l.First = append(l.First, Loss{what(), why})
		return
	}
	l.count(bytes, why)
}

// count counts a loss without listing it.
func (l *Losses) count(bytes int, why error) {
	l.More++
	l.Bytes += int64(bytes)
	var tooLarge *codecs.TooLargeError
	if errors.As(why, &tooLarge) && (l.Largest == nil || tooLarge.Size > l.Largest.Size) {
		l.Largest = tooLarge
	}
}

// lost lists the gaps, described by their offsets and the keys before and after them.
func (s *search) lost(separator func(key []byte) string) Losses {
	l, gaps, before := s.moreGaps, s.gaps, extent{}
	describe := func(n int, after extent) { // describes the next n gaps; an empty extent means no data block
		where := ""
		if n > 0 && before != (extent{}) {
			where = ", after the key " + s.keyOf(before, (*rowblock.Iter).Last, separator)
		}
		if n > 0 && after != (extent{}) {
			where += ", before the key " + s.keyOf(after, (*rowblock.Iter).First, separator)
		} else if before != (extent{}) {
			where += ", with the filters, the index, and possibly data blocks"
		}
		for _, g := range gaps[:n] {
			what := fmt.Sprintf("%s at %d%s", format.Plural(uint64(g.end-g.start), "byte"), g.start, where)
			l.First = append(l.First, Loss{what, cmp.Or(g.err, errors.New("no block with a valid checksum"))})
		}
		before, gaps = after, gaps[n:]
	}
	for e := range s.data() {
		n := 0
		for n < len(gaps) && gaps[n].end <= e.start {
			n++
		}
		describe(n, e)
	}
	describe(len(gaps), extent{})
	return l
}

// keyOf returns the key to which move moves in a block, as text, or "" if there is none.
func (s *search) keyOf(e extent, move func(*rowblock.Iter) bool, separator func(key []byte) string) string {
	it, err := s.open(e)
	if err != nil || !move(it) {
		return ""
	}
	return separator(it.Key())
}
