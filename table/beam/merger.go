package setio

import "slices"

// fanIn is how many pieces are merged at a time. A merge of more takes longer for each key.
const fanIn = 64

// A merger merges any number of pieces. It merges fanIn of them to a larger piece, and fanIn of
// these to a still larger one, so that each key is merged few times. Keys that most pieces have
// then take no more memory than fanIn pieces do.
type merger struct {
	levels [][]piece // levels[i] has pieces of fanInⁱ pieces
}

// add adds a piece.
func (m *merger) add(p piece) (err error) {
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
		p, err = join(func(add func(key, value []byte) error) error { return eachEntry(pieces, add) })
	}
	return err
}

// all calls f with each entry of the pieces, as eachEntry does.
func (m *merger) all(f func(key, value []byte) error) error {
	return eachEntry(slices.Concat(m.levels...), f)
}
