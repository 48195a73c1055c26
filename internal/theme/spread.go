package theme

import (
	"cmp"
	"slices"
)

// Spread moves labels apart that want to stand at these heights, so that any two are at least step
// apart, and as near as they can be to where they wanted. They stay between low and high, and in their
// order; if there is no room for all of them, they go beyond high. L is the unit of lengths.
func Spread[L ~float64](wanted []L, step, low, high L) []L {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(wanted[a], wanted[b]) })
	// Without the steps below them, labels only must not go down: where they would, all of those
	// that meet stand at their mean.
	type block struct{ sum, n L }
	var blocks []block
	for rank, i := range order {
		b := block{wanted[i] - L(rank)*step, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].sum/blocks[len(blocks)-1].n >= b.sum/b.n {
			last := blocks[len(blocks)-1]
			b.sum, b.n = b.sum+last.sum, b.n+last.n
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	placed := make([]L, len(wanted))
	most := high - L(len(wanted)-1)*step
	rank := 0
	for _, b := range blocks {
		for range int(b.n) {
			placed[order[rank]] = max(min(b.sum/b.n, most), low) + L(rank)*step
			rank++
		}
	}
	return placed
}
