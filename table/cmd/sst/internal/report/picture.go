package report

import (
	"slices"

	"github.com/sievetable/sievetable/table"
)

const (
	mostLines = 16   // of a row
	mostBars  = 2000 // of all rows, or as few as that can be
	mostCells = 1000 // of a line: bars that lie in one of them are drawn as one
)

// A picture has the tables and logs of a database over the ranges of their keys. The place of
// a key is its rank among the ends of all ranges.
type picture struct {
	Rows    []row
	Joined  bool     // some bars are of several files
	Lacking bool     // with some files something is wrong
	ends    [][]byte // different ones, in order
}

// A row is a level, or the logs.
type row struct {
	Name    string
	About   string // how many files it has
	Logs    bool
	Lines   [][]bar // from top to bottom; those of a line do not overlap
	LeftOut int     // files for which there is no line
	bars    []bar
}

// A bar is a table or a log over the range of its keys, or several that are too close to
// tell them apart.
type bar struct {
	Name              string // of the file
	Files             int
	Bytes             uint64
	Smallest, Largest []byte // users' keys
	Lacks             string // what is wrong with the file; "" if nothing is
	Lacking           int    // with how many files something is
	X, Width          float64
	from, to          int // ranks: of the smallest key, and behind that of the largest
}

// draw returns the picture of the rows.
func draw(rows []row, order table.Comparer) *picture {
	p := &picture{Rows: rows}
	p.rank(order)
	for i := range p.Rows {
		p.Rows[i].spread()
	}
	for cells := mostCells; p.bars() > mostBars && cells > 0; cells /= 2 {
		p.join(cells)
	}
	p.place()
	return p
}

// rank finds the ranks of all ranges.
func (p *picture) rank(order table.Comparer) {
	for _, r := range p.Rows {
		for _, b := range r.bars {
			p.ends = append(p.ends, b.Smallest, b.Largest)
		}
	}
	slices.SortFunc(p.ends, order.Compare)
	p.ends = slices.CompactFunc(p.ends, func(a, b []byte) bool { return order.Compare(a, b) == 0 })
	for _, r := range p.Rows {
		for i := range r.bars {
			b := &r.bars[i]
			smallest, _ := slices.BinarySearchFunc(p.ends, b.Smallest, order.Compare)
			largest, _ := slices.BinarySearchFunc(p.ends, b.Largest, order.Compare)
			b.from, b.to = min(smallest, largest), max(smallest, largest)+1 // whatever a MANIFEST says
		}
	}
}

// spread puts each bar into the first line that has room for it.
func (r *row) spread() {
	slices.SortStableFunc(r.bars, func(a, b bar) int { return a.from - b.from })
	for _, b := range r.bars {
		i := slices.IndexFunc(r.Lines, func(line []bar) bool { return line[len(line)-1].to <= b.from })
		switch {
		case i >= 0:
			r.Lines[i] = append(r.Lines[i], b)
		case len(r.Lines) < mostLines:
			r.Lines = append(r.Lines, []bar{b})
		default:
			r.LeftOut++
		}
	}
}

// bars counts those of all lines.
func (p *picture) bars() (n int) {
	for _, r := range p.Rows {
		for _, line := range r.Lines {
			n += len(line)
		}
	}
	return n
}

// join makes one of the bars of a line that lie in the same of so many cells.
func (p *picture) join(cells int) {
	p.Joined = true
	cell := func(rank int) int64 { return int64(rank) * int64(cells) / int64(len(p.ends)) }
	for _, r := range p.Rows {
		for i, line := range r.Lines {
			joined := line[:1]
			for _, b := range line[1:] {
				last := &joined[len(joined)-1]
				if cell(last.from) != cell(b.to-1) {
					joined = append(joined, b)
					continue
				}
				last.Files += b.Files
				last.Bytes += b.Bytes
				last.Lacking += b.Lacking
				last.Largest, last.to = b.Largest, b.to
			}
			r.Lines[i] = joined
		}
	}
}

// place gives the bars their places, in hundredths of the width. There is a gap between bars
// that follow one another, and none is too short to be seen.
func (p *picture) place() {
	const gap, shortest = 0.3, 0.1
	all := 100 / float64(max(1, len(p.ends)))
	for _, r := range p.Rows {
		for _, line := range r.Lines {
			for i := range line {
				b := &line[i]
				b.Width = max(shortest, float64(b.to-b.from)*all-min(gap, all/3))
				b.X = min(float64(b.from)*all, 100-b.Width)
				p.Lacking = p.Lacking || b.Lacking > 0
			}
		}
	}
}

// First and Last are the ends of the picture.
func (p *picture) First() []byte { return p.ends[0] }

// Last is the largest key of all.
func (p *picture) Last() []byte { return p.ends[len(p.ends)-1] }
