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
	counts  [len(repairNames)]counts
}

// A page is the table of results.
type page struct {
	rows   []*row
	all    row               // for all kinds
	behind [bySSTCertain]int // number of databases for which a peer has more right pairs, for each way to call sst
}

// add adds a result to the row of its kind and to the row for all kinds.
func (p *page) add(r *result) {
	i := slices.IndexFunc(p.rows, func(of *row) bool { return of.kind == r.kind })
	if i < 0 {
		i = len(p.rows)
		p.rows = append(p.rows, &row{kind: r.kind})
	}
	p.rows[i].add(r)
	p.all.add(r)
	for i := range p.behind {
		if slices.ContainsFunc(r.counts[firstPeer:], func(c counts) bool { return c.right > r.counts[i].right }) {
			p.behind[i]++
		}
	}
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
	p.all.kind = "all"
	for _, r := range append(p.rows, &p.all) {
		fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %s |\n", r.kind, r.damages,
			r.figures(func(c counts) int { return c.right }), r.figures(func(c counts) int { return c.old }),
			r.figures(func(c counts) int { return c.deleted }), figures.Grouped(r.counts[bySST].unnamed))
	}
	for i, n := range p.behind {
		fmt.Fprintf(out, "\nA peer has more right pairs than %s: in %d databases.\n", repairNames[i], n)
	}
	for i, c := range p.all.counts[firstPeer:] {
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
