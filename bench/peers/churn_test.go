package main

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/internal/workload"
)

// churn yields an endless sequence of Ops: batches of writes to few keys, snapshots, and compactions of ranges.
func churn(rng *rand.Rand) iter.Seq[history.Op] {
	one := func(in int) bool { return rng.IntN(in) == 0 }
	return func(yield func(history.Op) bool) {
		for {
			ops := batch(rng)
			switch {
			case one(40):
				ops = append(ops, history.Op{Kind: history.Snapshot})
			case one(100):
				ops = append(ops, history.Op{Kind: history.Release})
			case one(400):
				ends := [][]byte{churnKey(rng), churnKey(rng)}
				slices.SortFunc(ends, bytes.Compare)
				ops = append(ops, history.Op{Kind: history.CompactRange, Key: ends[0], Value: ends[1]})
			}
			for _, op := range ops {
				if !yield(op) {
					return
				}
			}
		}
	}
}

// batch returns some writes and their commit. A few batches are longer than a block of the log.
func batch(rng *rand.Rand) []history.Op {
	n := 1 + rng.IntN(8)
	if rng.IntN(50) == 0 {
		n = 200
	}
	var ops []history.Op
	for range n {
		op := history.Op{Kind: history.Put, Key: churnKey(rng)}
		switch kind := rng.IntN(200); {
		case kind == 0:
			op.Value = workload.RandomBytes(rng, rng.IntN(100_000))
		case kind < 60:
			op.Kind = history.Delete
		case kind < 190:
			op.Value = workload.RandomBytes(rng, rng.IntN(400))
		}
		ops = append(ops, op)
	}
	commit := history.Op{Kind: history.Commit}
	if rng.IntN(50) == 0 {
		commit.Snapshot = 1
	}
	return append(ops, commit)
}

// churnKey returns one of some five thousand keys, a few of which are very short.
func churnKey(rng *rand.Rand) []byte {
	if rng.IntN(20) == 0 {
		return workload.RandomBytes(rng, rng.IntN(3))
	}
	return fmt.Appendf(nil, "key%05d", rng.IntN(5000))
}
