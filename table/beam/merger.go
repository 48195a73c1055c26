package setio

import (
	"cmp"
	"slices"
)

// fanIn is the number of pieces merged at a time. More would take longer per key.
const fanIn = 64

// A merger merges any number of pieces, in levels: fanIn pieces become a larger one, fanIn of these a still larger
// one. So each key is merged few times, and duplicate keys take little memory.
type merger struct {
	levels [][]piece // levels[i] has pieces of fanInⁱ pieces
	pieces int64     // that were added
	size   int       // their size in bytes
}

// add adds a piece.
func (m *merger) add(p piece) (err error) {
	m.pieces++
	m.size += len(p)
	for level := 0; err == nil; level++ {
		if level == len(m.levels) {
			m.levels = append(m.levels, nil)
		}
		pieces := append(m.levels[level], p)
		if len(pieces) < fanIn {
			m.levels[level] = pieces
			return nil
		}
		m.levels[level] = nil
		w := &pieceWriter{emit: func(merged piece) { p = merged }, whole: true}
		err = cmp.Or(eachEntry(pieces, w.append), w.finish())
	}
	return err
}

// all calls f with each entry of the pieces, as eachEntry does.
func (m *merger) all(f func(key, value []byte) error) error {
	return eachEntry(slices.Concat(m.levels...), f)
}
