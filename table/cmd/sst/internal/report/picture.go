package report

import (
	"slices"

	"github.com/sievetable/sievetable/table"
)

const (
	maxLines = 16   // of a row
	maxBars  = 2000 // of all rows, if joining bars achieves that
	maxCells = 1000 // of a line; bars in the same cell are joined
)

// A picture shows the key ranges of tables and logs as bars. The position of a key is its
// rank among the ends of all ranges.
type picture struct {
	Rows     []row
	Joined   bool     // some bars stand for several files
	Problems bool     // some files have a problem
	Lister   string   // what lists the files: the MANIFEST, or the manifest of a set
	ends     [][]byte // the ends of all ranges, in order, without duplicates
}

// A row is a level, a layer, or the logs.
type row struct {
	Name    string
	About   string // its number of files
	Logs    bool
	Lines   [][]bar // from top to bottom; bars in a line do not overlap
	LeftOut int     // files that fit in no line
	bars    []bar
}

// A bar is the key range of a table or a log, or of several that are too close to tell them
// apart.
type bar struct {
	Name              string // of the file
	Files             int
	Bytes             uint64
	Smallest, Largest []byte // user keys
	Problem           string // of the file; "" if there is none
	Problems          int    // number of files with a problem
	X, Width          float64
	from, to          int // rank of the smallest key, and rank of the largest key + 1
}

// draw returns the picture of the rows.
func draw(rows []row, order table.Comparer, lister string) *picture {
	p := &picture{Rows: rows, Lister: lister}
	p.rank(order)
	for i := range p.Rows {
		p.Rows[i].spread()
	}
	for cells := maxCells; p.bars() > maxBars && cells > 0; cells /= 2 {
		p.join(cells)
	}
	p.place()
	return p
}

// rank sets the ranks of all bars.
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

// spread puts each bar into the first line with space for it.
func (r *row) spread() {
	slices.SortStableFunc(r.bars, func(a, b bar) int { return a.from - b.from })
	for _, b := range r.bars {
		i := slices.IndexFunc(r.Lines, func(line []bar) bool { return line[len(line)-1].to <= b.from })
		switch {
		case i >= 0:
			r.Lines[i] = append(r.Lines[i], b)
		case len(r.Lines) < maxLines:
			r.Lines = append(r.Lines, []bar{b})
		default:
			r.LeftOut++
		}
	}
}

// bars returns the number of bars in all lines.
func (p *picture) bars() (n int) {
	for _, r := range p.Rows {
		for _, line := range r.Lines {
			n += len(line)
		}
	}
	return n
}

// join joins adjacent bars of a line that are in the same cell.
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
				last.Problems += b.Problems
				last.Largest, last.to = b.Largest, b.to
			}
			r.Lines[i] = joined
		}
	}
}

// place sets X and Width of all bars, in percent of the picture's width. Adjacent bars have a
// gap between them, and every bar is wide enough to be seen.
func (p *picture) place() {
	const gap, shortest = 0.3, 0.1
	all := 100 / float64(max(1, len(p.ends)))
	for _, r := range p.Rows {
		for _, line := range r.Lines {
			for i := range line {
				b := &line[i]
				b.Width = max(shortest, float64(b.to-b.from)*all-min(gap, all/3))
				b.X = min(float64(b.from)*all, 100-b.Width)
				p.Problems = p.Problems || b.Problems > 0
			}
		}
	}
}

// HasLogs says whether a row is that of the logs.
func (p *picture) HasLogs() bool {
	return slices.ContainsFunc(p.Rows, func(r row) bool { return r.Logs })
}

// HasTables says whether a row is of tables.
func (p *picture) HasTables() bool {
	return slices.ContainsFunc(p.Rows, func(r row) bool { return !r.Logs })
}

// First returns the smallest key of all.
func (p *picture) First() []byte { return p.ends[0] }

// Last returns the largest key of all.
func (p *picture) Last() []byte { return p.ends[len(p.ends)-1] }
