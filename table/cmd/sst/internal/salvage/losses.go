package salvage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/wire"
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

// add adds a loss of so many bytes of the file.
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

// neighbours are the data blocks before and after a gap. A missing one is an empty extent.
type neighbours struct{ before, after extent }

// neighboursOf returns the neighbours of gaps, which are in file order.
func (s *search) neighboursOf(gaps []region) []neighbours {
	all := make([]neighbours, len(gaps))
	i, before := 0, extent{}
	for e := range s.data() {
		for ; i < len(gaps) && e.start >= gaps[i].end; i++ {
			all[i] = neighbours{before, e}
		}
		if before = e; i == len(gaps) {
			break
		}
	}
	for ; i < len(gaps); i++ {
		all[i].before = before
	}
	return all
}

// addGap lists a gap, or counts it.
func (s *search) addGap(g region) {
	if len(s.gaps) < maxListedLosses {
		s.gaps = append(s.gaps, g)
		return
	}
	s.moreGaps.count(g.end-g.start, g.err)
}

// lost describes the gaps: their offsets, and the keys before and after them.
func (s *search) lost(separator func(key []byte) string) Losses {
	l := s.moreGaps
	ends := boundaryKeys{in: s.fileImage, separator: separator, known: map[extent][2]string{}}
	for i, next := range s.neighboursOf(s.gaps) {
		g := s.gaps[i]
		what := fmt.Sprintf("%s at %d", wire.Plural(uint64(g.end-g.start), "byte"), g.start)
		if next.before != (extent{}) {
			what += ", after the key " + ends.of(next.before)[1]
		}
		if next.after != (extent{}) {
			what += ", before the key " + ends.of(next.after)[0]
		} else if next.before != (extent{}) {
			what += ", with the filters, the index, and possibly data blocks"
		}
		if g.err == nil {
			g.err = errors.New("no block with a valid checksum")
		}
		l.First = append(l.First, Loss{what, g.err})
	}
	return l
}

// boundaryKeys are the first and last keys of blocks, as text. They are cached, because a
// block can be next to many gaps.
type boundaryKeys struct {
	in        fileImage
	separator func(key []byte) string
	known     map[extent][2]string
}

func (k *boundaryKeys) of(e extent) [2]string {
	ends, ok := k.known[e]
	if ok {
		return ends
	}
	if it, err := k.in.open(e); err == nil && it.First() {
		ends[0] = k.separator(it.Key())
		it.Last()
		ends[1] = k.separator(it.Key())
	}
	k.known[e] = ends
	return ends
}
