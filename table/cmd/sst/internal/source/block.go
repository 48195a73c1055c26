package source

import "github.com/sievetable/sievetable/block"

// blockBudget is what may be taken for the keys of one block, which few bytes can make
// very long: the memory that a Reader takes at least, and some seconds.
var blockBudget = block.Budget{Memory: 64 << 20, Work: 1 << 35}

// OpenBlock returns an Iter on a block's contents, which it keeps. compare is the order
// of its keys.
func OpenBlock(contents []byte, compare func(a, b []byte) int) (*block.Iter, error) {
	it, budget := new(block.Iter), blockBudget
	if err := it.Open(contents, compare, &budget); err != nil {
		return nil, err
	}
	return it, nil
}

// AnyOrder takes keys in any order for increasing.
func AnyOrder(_, _ []byte) int { return -1 }
