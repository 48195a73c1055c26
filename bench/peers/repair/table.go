package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/sievetable/sievetable/internal/figures"
)

// A row sums the results for one kind of damage.
type row struct {
	kind    string
	damages int
	counts  []counts // by each of repairNames
}

// A page is the table of results.
type page struct {
	rows   []*row
	behind [bySSTCertain]int // number of databases for which a peer has more right pairs, for each way to call sst
}

// add adds a result to the row of its kind and to the last row, which is for all kinds.
func (p *page) add(r *result) {
	if p.rows == nil {
		p.rows = []*row{{kind: "all", counts: make([]counts, len(repairNames))}}
	}
	p.rowOf(r.kind).add(r)
	p.rows[len(p.rows)-1].add(r)
	for i := range p.behind {
		if slices.ContainsFunc(r.counts[firstPeer:], func(c counts) bool { return c.right > r.counts[i].right }) {
			p.behind[i]++
		}
	}
}

func (p *page) rowOf(kind string) *row {
	last := len(p.rows) - 1
	for _, r := range p.rows[:last] {
		if r.kind == kind {
			return r
		}
	}
	r := &row{kind: kind, counts: make([]counts, len(repairNames))}
	p.rows = append(p.rows[:last], r, p.rows[last])
	return r
}

func (r *row) add(result *result) {
	r.damages++
	for i := range r.counts {
		r.counts[i].add(result.counts[i])
	}
}

// print prints the table in Markdown. Each cell contains the figures of sst repair and the peers.
func (p *page) print(out io.Writer) {
	fmt.Fprint(out, "| damage | databases | pairs right | old | deleted | of these not named |\n|---|--:|--:|--:|--:|--:|\n")
	for _, r := range p.rows {
		fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %s |\n", r.kind, r.damages,
			r.figures(func(c counts) int { return c.right }), r.figures(func(c counts) int { return c.old }),
			r.figures(func(c counts) int { return c.deleted }), figures.Grouped(r.counts[bySST].unnamed))
	}
	for i, n := range p.behind {
		fmt.Fprintf(out, "\nA peer has more right pairs than %s: in %d databases.\n", repairNames[i], n)
	}
	for i, c := range p.rows[len(p.rows)-1].counts[firstPeer:] {
		fmt.Fprintf(out, "\n%s: of its right pairs that sst repair lacks, %s are only in obsolete files, and %s in bytes "+
			"whose checksum does not fit; it has %s pairs that never were.\n",
			repairNames[firstPeer+i], figures.Grouped(c.ahead.obsolete), figures.Grouped(c.ahead.unchecked), figures.Grouped(c.foreign))
	}
}

// figures returns a figure of sst repair and of each peer.
func (r *row) figures(of func(counts) int) string {
	text := "**" + figures.Grouped(of(r.counts[bySST])) + "**"
	for _, c := range r.counts[firstPeer:] {
		text += " · " + figures.Grouped(of(c))
	}
	return text
}
