package history

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/internal/workload"
)

// Churn yields an endless sequence of Ops: batches of writes to few keys, snapshots, and compactions of ranges.
func Churn(rng *rand.Rand) iter.Seq[Op] {
	one := func(in int) bool { return rng.IntN(in) == 0 }
	return func(yield func(Op) bool) {
		for {
			ops := batch(rng)
			switch {
			case one(40):
				ops = append(ops, Op{Kind: Snapshot})
			case one(100):
				ops = append(ops, Op{Kind: Release})
			case one(400):
				ends := [][]byte{churnKey(rng), churnKey(rng)}
				slices.SortFunc(ends, bytes.Compare)
				ops = append(ops, Op{Kind: CompactRange, Key: ends[0], Value: ends[1]})
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
func batch(rng *rand.Rand) []Op {
	n := 1 + rng.IntN(8)
	if rng.IntN(50) == 0 {
		n = 200
	}
	var ops []Op
	for range n {
		op := Op{Kind: Put, Key: churnKey(rng)}
		switch kind := rng.IntN(200); {
		case kind == 0:
			op.Value = workload.RandomBytes(rng, rng.IntN(100_000))
		case kind < 60:
			op.Kind = Delete
		case kind < 190:
			op.Value = workload.RandomBytes(rng, rng.IntN(400))
		}
		ops = append(ops, op)
	}
	commit := Op{Kind: Commit}
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

// Read reads an Op in the format of Append. At the end of the input, it returns io.EOF.
func Read(r *bufio.Reader) (Op, error) {
	var head [4]uint32
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return Op{}, err
	}
	data := make([]byte, int(head[2])+int(head[3]))
	_, err := io.ReadFull(r, data)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return Op{Kind: Kind(head[0]), Snapshot: int(head[1]), Key: data[:head[2]:head[2]], Value: data[head[2]:]}, err
}
