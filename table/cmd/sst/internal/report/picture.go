package report

import (
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

const (
	maxLines = 16   // of a row
	maxBars  = 2000 // of all rows, as far as joining bars achieves that
	maxCells = 1000 // of a line, when bars in the same cell are joined
)

// A picture shows the key ranges of tables and logs as bars.
type picture struct {
	Rows        []row
	Joined      bool   // some bars stand for several files
	Problems    bool   // some files have a problem
	ByEntries   bool   // keys are placed by the number of entries before them, otherwise by rank
	First, Last []byte // the smallest and the largest key of all files
	lister      string // the file that lists the files: "MANIFEST", or a set's "manifest"
	bars        int    // number of bars in all rows
	ends        [][]byte
	at          []float64 // the position of each end in percent of the width, and finally 100
}

// A row is a level, a layer, or the logs.
type row struct {
	Name    string
	Kind    string // of all files: table, removal or log
	Bars    []*bar // those of a line do not overlap
	Lines   int
	LeftOut int // number of files without a line
	Files   []bar
}

// About counts the files.
func (r row) About() string {
	if r.Kind == "removal" {
		return text.Count(uint64(len(r.Files)), "table") + " of removals"
	}
	return text.Count(uint64(len(r.Files)), r.Kind)
}

// A bar is the key range of a table or a log, or of several that are too close together to be drawn separately.
type bar struct {
	Name, Row, Kind   string   // of the file
	Cells             []string // its cells in the table of files, between name and key range
	Files, Problems   uint64   // number of files, and of files with a problem
	Bytes, Entries    uint64
	Smallest, Largest []byte // user keys
	Problem           string // of the file; "" if there is none
	Line              int
	from, to          int // rank of the smallest key, and rank of the largest key + 1
}

// draw returns the picture of files. The files of a row must be adjacent.
func draw(files []bar, order table.Comparer, lister string) *picture {
	p := &picture{lister: lister}
	p.rank(files, order)
	p.scale(files)
	for _, b := range files {
		n := len(p.Rows)
		if n == 0 || b.Row != p.Rows[n-1].Name || b.Kind != p.Rows[n-1].Kind {
			p.Rows = append(p.Rows, row{Name: b.Row, Kind: b.Kind})
			n++
		}
		p.Rows[n-1].Files = append(p.Rows[n-1].Files, b)
	}
	p.spread(0)
	for cells := maxCells; p.bars > maxBars && cells > 0; cells /= 2 {
		p.spread(cells)
	}
	return p
}

// rank sets the ranks of all bars: the ranks of their keys among the ends of all ranges.
func (p *picture) rank(files []bar, order table.Comparer) {
	for _, b := range files {
		p.ends = append(p.ends, b.Smallest, b.Largest)
	}
	slices.SortFunc(p.ends, order.Compare)
	p.ends = slices.CompactFunc(p.ends, func(a, b []byte) bool { return order.Compare(a, b) == 0 })
	p.First, p.Last = p.ends[0], p.ends[len(p.ends)-1]
	for i := range files {
		b := &files[i]
		smallest, _ := slices.BinarySearchFunc(p.ends, b.Smallest, order.Compare)
		largest, _ := slices.BinarySearchFunc(p.ends, b.Largest, order.Compare)
		b.from, b.to = min(smallest, largest), max(smallest, largest)+1 // a MANIFEST can contain impossible ranges
		b.Files = 1
		if b.Problem != "" {
			b.Problems = 1
		}
		p.ByEntries = p.ByEntries || b.Entries > 0
	}
}

// scale sets the positions of the ends. The distance between two adjacent ends is proportional to the entries
// between them, as if each file's entries were spread evenly over its range. If the numbers of entries are unknown,
// all distances are equal.
func (p *picture) scale(files []bar) {
	changes := make([]float64, len(p.ends)+1) // changes of step at each end
	for _, b := range files {
		each := float64(b.Entries) / float64(b.to-b.from)
		changes[b.from] += each
		changes[b.to] -= each
	}
	p.at = make([]float64, len(p.ends)+1)
	step := 0.0 // entries between an end and the next
	for i := range p.ends {
		step += changes[i]
		width := 1.0
		if p.ByEntries {
			width = max(step, 0) // rounding can make it negative
		}
		p.at[i+1] = p.at[i] + width
	}
	for i, all := 0, p.at[len(p.ends)]; i < len(p.at); i++ {
		p.at[i] *= 100 / all
	}
}

// spread makes the bars of all rows. If cells > 0, the width is divided into that many cells, and bars of a line in
// the same cell are joined.
func (p *picture) spread(cells int) {
	p.bars, p.Joined, p.Problems = 0, cells > 0, false
	for i := range p.Rows {
		r := &p.Rows[i]
		slices.SortStableFunc(r.Files, func(a, b bar) int { return a.from - b.from })
		p.spreadRow(r, float64(cells)/100)
		p.bars += len(r.Bars)
	}
}

// spreadRow puts each file of a row into the first line with space for it.
func (p *picture) spreadRow(r *row, cells float64) {
	r.Bars, r.LeftOut = nil, 0
	var lines []*bar // the last bar of each line
	for _, b := range r.Files {
		b.Line = slices.IndexFunc(lines, func(last *bar) bool { return last.to <= b.from })
		if b.Line < 0 && len(lines) == maxLines {
			r.LeftOut++
			continue
		}
		p.Problems = p.Problems || b.Problems > 0
		if b.Line < 0 {
			b.Line, lines = len(lines), append(lines, nil)
		} else if last := lines[b.Line]; cells > 0 && int(p.at[last.from]*cells) == int(p.at[b.to-1]*cells) {
			last.Files, last.Problems = last.Files+1, last.Problems+b.Problems
			last.Bytes, last.Entries = last.Bytes+b.Bytes, last.Entries+b.Entries
			last.Largest, last.to = b.Largest, b.to
			continue
		}
		lines[b.Line] = &b
		r.Bars = append(r.Bars, &b)
	}
	r.Lines = len(lines)
}

// Width returns the width of a bar in percent of the picture's. Adjacent bars have a gap between them, and every
// bar is wide enough to be seen.
func (p *picture) Width(b *bar) float64 {
	const gap, shortest = 0.3, 0.1
	width := p.at[b.to] - p.at[b.from]
	return max(shortest, width-min(gap, width/3))
}

// X returns where a bar starts, in percent of the picture's width.
func (p *picture) X(b *bar) float64 { return min(p.at[b.from], 100-p.Width(b)) }

// Legend explains the kinds of bars in the picture.
func (p *picture) Legend() (legend facts) {
	has := func(kind string) bool { return slices.ContainsFunc(p.Rows, func(r row) bool { return r.Kind == kind }) }
	legend.when(has("table"), "table", "tables")
	legend.when(has("removal"), "removal", "removals: keys deleted by a layer")
	legend.when(has("log"), "log", "live logs")
	legend.when(p.Problems, "problem", "files that are missing, or not of the size in the "+p.lister)
	return legend
}
