package salvage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
)

// A Loss is what of a table could not be read.
type Loss struct {
	What string // it was, and between which keys: "the keys after …", "18 bytes at 0, …"
	Why  error
}

// Losses are any number of them, of which the first are kept.
type Losses struct {
	First []Loss

	More    int                   // how many others there are
	Bytes   int64                 // that those have in the file
	Largest *codecs.TooLargeError // block of those others; nil if none is too large
}

// maxListedLosses is how many losses are kept.
const maxListedLosses = 100

// Any reports whether there is a loss.
func (l *Losses) Any() bool { return len(l.First) > 0 }

// anyTooLarge reports whether one of them is a block that is too large.
func (l *Losses) anyTooLarge() bool {
	return l.Largest != nil || slices.ContainsFunc(l.First, func(l Loss) bool {
		return errors.As(l.Why, new(*codecs.TooLargeError))
	})
}

// add adds what was lost for a reason: so many bytes of the file.
func (l *Losses) add(what func() string, bytes int, why error) {
	if len(l.First) < maxListedLosses {
		l.First = append(l.First, Loss{what(), why})
		return
	}
	l.count(bytes, why)
}

// count adds what is only counted.
func (l *Losses) count(bytes int, why error) {
	l.More++
	l.Bytes += int64(bytes)
	var tooLarge *codecs.TooLargeError
	if errors.As(why, &tooLarge) && (l.Largest == nil || tooLarge.Size > l.Largest.Size) {
		l.Largest = tooLarge
	}
}

// neighbours are the data blocks next to a gap, before and after it. One that is not there
// is empty.
type neighbours struct{ before, after extent }

// neighboursOf returns those of gaps, which are in order as the blocks are.
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

// addGap keeps one of the first gaps.
func (s *search) addGap(g region) {
	if len(s.gaps) < maxListedLosses {
		s.gaps = append(s.gaps, g)
		return
	}
	s.moreGaps.count(g.end-g.start, g.err)
}

// lost says what bytes could not be read, and between which keys they are.
func (s *search) lost(separator func(key []byte) string) Losses {
	l := s.moreGaps
	ends := boundaryKeys{in: s.fileImage, separator: separator, known: map[extent][2]string{}}
	for i, next := range s.neighboursOf(s.gaps) {
		g := s.gaps[i]
		what := fmt.Sprintf("%d bytes at %d", g.end-g.start, g.start)
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

// boundaryKeys are the first key and the last key of blocks, as text: many gaps can be next to one.
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
