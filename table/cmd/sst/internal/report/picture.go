package report

import (
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

const (
	maxLines = 16   // of a row
	maxBars  = 2000 // of all rows, if joining bars achieves that
	maxCells = 1000 // of a line; bars in the same cell are joined
)

// A picture shows the key ranges of tables and logs as bars.
type picture struct {
	Rows      []row
	Joined    bool      // some bars stand for several files
	Problems  bool      // some files have a problem
	ByEntries bool      // keys are placed by the entries before them, otherwise by rank
	lister    string    // what lists the files: the MANIFEST, or the manifest of a set
	ends      [][]byte  // the ends of all ranges, in order, without duplicates
	at        []float64 // where each end is, in percent of the width, and 100
}

// A row is a level, a layer, or the logs.
type row struct {
	Name    string
	Kind    string  // of all files: table, removal or log
	Lines   [][]bar // from top to bottom; bars in a line do not overlap
	LeftOut int     // files that fit in no line
	bars    []bar
}

// About counts the files.
func (r row) About() string {
	n := uint64(len(r.bars))
	switch r.Kind {
	case "log":
		return text.Count(n, "log")
	case "removal":
		return text.Count(n, "table") + " of removals"
	}
	return text.Count(n, "table")
}

// A bar is the key range of a table or a log, or of several that are too close to tell them
// apart.
type bar struct {
	Name              string // of the file
	Files, Problems   uint64 // their number, and of how many there is a problem
	Bytes, Entries    uint64
	Smallest, Largest []byte // user keys
	Problem           string // of the file; "" if there is none
	X, Width          float64
	from, to          int // rank of the smallest key, and rank of the largest key + 1
}

// draw returns the picture of the rows.
func draw(rows []row, order table.Comparer, lister string) *picture {
	p := &picture{Rows: rows, lister: lister}
	p.rank(order)
	p.scale()
	for i := range p.Rows {
		p.Rows[i].spread()
	}
	for cells := maxCells; p.bars() > maxBars && cells > 0; cells /= 2 {
		p.join(cells)
	}
	p.place()
	return p
}

// rank sets the ranks of all bars: those of their keys among the ends of all ranges.
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
			b.Files = 1
			if b.Problem != "" {
				b.Problems = 1
			}
			p.ByEntries = p.ByEntries || b.Entries > 0
		}
	}
}

// scale sets where the ends are. What is between two of them is as wide as it has entries, if each
// file has its entries evenly in its range. If no entries are known, it is as wide as all else.
func (p *picture) scale() {
	changes := make([]float64, len(p.ends)+1) // of the entries in a step, from one end to the next
	for _, r := range p.Rows {
		for _, b := range r.bars {
			each := float64(b.Entries) / float64(b.to-b.from)
			changes[b.from] += each
			changes[b.to] -= each
		}
	}
	p.at = make([]float64, len(p.ends)+1)
	step := 0.0
	for i := range p.ends {
		step += changes[i]
		width := 1.0
		if p.ByEntries {
			width = max(step, 0) // sums are not exact
		}
		p.at[i+1] = p.at[i] + width
	}
	for i, all := 0, p.at[len(p.ends)]; i < len(p.at); i++ {
		p.at[i] *= 100 / all
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
	cell := func(rank int) int { return int(p.at[rank] * float64(cells) / 100) }
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
				last.Entries += b.Entries
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
	for _, r := range p.Rows {
		for _, line := range r.Lines {
			for i := range line {
				b := &line[i]
				width := p.at[b.to] - p.at[b.from]
				b.Width = max(shortest, width-min(gap, width/3))
				b.X = min(p.at[b.from], 100-b.Width)
				p.Problems = p.Problems || b.Problems > 0
			}
		}
	}
}

// Legend names the kinds of bars that there are.
func (p *picture) Legend() (legend facts) {
	has := func(kind string) bool { return slices.ContainsFunc(p.Rows, func(r row) bool { return r.Kind == kind }) }
	legend.when(has("table"), "table", "tables")
	legend.when(has("removal"), "removal", "removals: keys that a layer deletes")
	legend.when(has("log"), "log", "live logs")
	legend.when(p.Problems, "problem", "files that do not exist, or have another size than the "+p.lister+" says")
	return legend
}

// First returns the smallest key of all.
func (p *picture) First() []byte { return p.ends[0] }

// Last returns the largest key of all.
func (p *picture) Last() []byte { return p.ends[len(p.ends)-1] }
