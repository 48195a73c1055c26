package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/sievetable/sievetable/bench/peers/internal/history"
)

// A version is a write to a key.
type version struct {
	sequence uint64
	value    string // in hexadecimal
	deleted  bool
}

// A model contains all writes to a database: for each key, in hexadecimal, the versions from the oldest to the
// newest. All values are different.
type model struct {
	keys     map[string][]version
	sequence uint64 // of the last write; engines begin with 1
}

// put and delete add a write to the model and return it.
func (m *model) put(key, value []byte) history.Op {
	m.add(key, version{value: fmt.Sprintf("%x", value)})
	return history.Op{Kind: history.Put, Key: key, Value: value}
}

func (m *model) delete(key []byte) history.Op {
	m.add(key, version{deleted: true})
	return history.Op{Kind: history.Delete, Key: key}
}

func (m *model) add(key []byte, v version) {
	m.sequence++
	v.sequence = m.sequence
	hex := fmt.Sprintf("%x", key)
	m.keys[hex] = append(m.keys[hex], v)
}

// newest returns the newest version of a key in the model.
func (m *model) newest(key string) version {
	versions := m.keys[key]
	return versions[len(versions)-1]
}

// numKeys is the number of keys in a history.
const numKeys = 2500

func keyOf(i int) []byte { return fmt.Appendf(nil, "key%04d", i) }

// random returns batches of writes to few keys, a quarter of them deletions, and occasionally a compaction of a
// range.
func (m *model) random(rng *rand.Rand, batches int) (ops []history.Op) {
	for range batches {
		for range 1 + rng.IntN(4) {
			key := keyOf(rng.IntN(numKeys))
			if rng.IntN(4) == 0 {
				ops = append(ops, m.delete(key))
			} else {
				ops = append(ops, m.put(key, fmt.Appendf(nil, "write %d %0*d", m.sequence, rng.IntN(150), 0)))
			}
		}
		ops = append(ops, history.Op{Kind: history.Commit})
		if rng.IntN(1000) == 0 {
			from := rng.IntN(numKeys)
			ops = append(ops, history.Op{Kind: history.CompactRange, Key: keyOf(from), Value: keyOf(from + numKeys/4)})
		}
	}
	return ops
}
