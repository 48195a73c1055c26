package trial

import "slices"

// A stretch is a part of the data blocks, of which those before next are tried.
type stretch struct{ from, next, end int }

// stretchSize is how many bytes of blocks a stretch has at least, uncompressed: enough for
// several blocks of the largest size that is tried, so that few of them have entries of two
// stretches.
const stretchSize = 1 << 20

// maxStretches is the most stretches of a table.
const maxStretches = 32

// stretches divides data blocks into stretches, for a Sample of most bytes.
func stretches(blocks int, most int64) []*stretch {
	n := int(min(max(1, most/stretchSize), maxStretches, int64(blocks)))
	var all []*stretch
	for i := range n {
		from := i * blocks / n
		all = append(all, &stretch{from, from, (i + 1) * blocks / n})
	}
	return all
}

// unfinished returns the stretches that have more blocks.
func unfinished(all []*stretch) []*stretch {
	return slices.DeleteFunc(slices.Clone(all), func(s *stretch) bool { return s.next == s.end })
}
