// Package history defines operations on databases, so that all engines perform the same ones: writes, snapshots,
// and compactions while snapshots are held.
package history

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/sievetable/sievetable/internal/workload"
)

// An Op is an operation on a database.
type Op struct {
	Kind       Kind
	Key, Value []byte
	Snapshot   int // number of the snapshot to get the key from
}

// Kind is the kind of an Op.
type Kind uint32

// The kinds of Ops. Deletes and Puts wait for a Commit.
const (
	Delete Kind = iota
	Put
	Snapshot     // held until the end, or a Release
	Compact      // the whole database
	Get          // adds an Answer
	CompactRange // from Key to Value
	Commit       // Puts and Deletes since the last Commit; with a sync if Snapshot is 1
	Release      // all snapshots
)

// An Answer is the result of a Get.
type Answer struct {
	Found bool
	Value []byte
}

// Of returns the Ops for rounds of writes: a snapshot before each round and after the last one, a compaction after
// each round, and finally gets of all keys from each snapshot. sequences are the sequence numbers of the snapshots.
func Of(rounds [][]workload.Write, keys [][]byte) (ops []Op, sequences []uint64) {
	sequence := uint64(0)
	snapshot := func() {
		ops = append(ops, Op{Kind: Snapshot})
		sequences = append(sequences, sequence)
	}
	snapshot()
	for _, writes := range rounds {
		for _, w := range writes {
			op := Op{Kind: Put, Key: w.Key, Value: w.Value}
			if w.Delete {
				op.Kind = Delete
			}
			ops = append(ops, op, Op{Kind: Commit})
			sequence++
		}
		snapshot()
		ops = append(ops, Op{Kind: Compact})
	}
	for i := range sequences {
		for _, k := range keys {
			ops = append(ops, Op{Kind: Get, Key: k, Snapshot: i})
		}
	}
	return ops, sequences
}

// Encode returns the ops in the format of Append.
func Encode(ops []Op) (in []byte) {
	for _, op := range ops {
		in = op.Append(in)
	}
	return in
}

// Append appends the Op in a format for programs: the kind, the snapshot, and the lengths of key and value, all as
// u32le, then key and value.
func (o *Op) Append(dst []byte) []byte {
	for _, n := range []uint32{uint32(o.Kind), uint32(o.Snapshot), uint32(len(o.Key)), uint32(len(o.Value))} {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	return append(append(dst, o.Key...), o.Value...)
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
