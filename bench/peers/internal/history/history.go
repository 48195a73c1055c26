// Package history has databases live through the same: writes, snapshots, and
// compactions while these are held.
package history

import (
	"encoding/binary"

	"github.com/sievetable/sievetable/internal/workload"
)

// An Op is one thing to do with a database.
type Op struct {
	Kind       Kind
	Key, Value []byte
	Snapshot   int // which one to get the key from, from 0 on
}

// Kind says what to do.
type Kind uint32

// The kinds of Ops. Deletes and Puts wait for a Commit.
const (
	Delete Kind = iota
	Put
	Snapshot     // to be held until the end, or a Release
	Compact      // all of the database
	Get          // to be answered
	CompactRange // from the key to the value
	Commit       // the puts and deletes since the last one, and sync if Snapshot is 1
	Release      // all snapshots
)

// An Answer is what a Get found.
type Answer struct {
	Found bool
	Value []byte
}

// Of returns rounds of writes with a snapshot before each and behind the last, a
// compaction after each round, and gets of all the keys from each of the
// snapshots. sequences are what the snapshots see up to.
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

// Encode returns the ops as Append appends them.
func Encode(ops []Op) (in []byte) {
	for _, op := range ops {
		in = op.Append(in)
	}
	return in
}

// Append appends the Op for a program to read: kind, snapshot, and the lengths of
// key and value as u32le, then key and value.
func (o *Op) Append(dst []byte) []byte {
	for _, n := range []uint32{uint32(o.Kind), uint32(o.Snapshot), uint32(len(o.Key)), uint32(len(o.Value))} {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	return append(append(dst, o.Key...), o.Value...)
}
