package tablestats

import "github.com/sievetable/sievetable/table/cmd/sst/internal/source"

// Exceptions are the keys that the filter of the table has by chance, and that lookups deny.
type Exceptions struct {
	Keys   int    `json:"keys"`
	Offset uint64 `json:"offset"`
	Bytes  uint64 `json:"bytes"` // as stored, without trailer
}

// exceptionsOf returns the exceptions of a table, or nil if it has none.
func exceptionsOf(f source.Filters) *Exceptions {
	if f.Never.Len() == 0 {
		return nil
	}
	return &Exceptions{Keys: f.Never.Len(), Offset: f.NeverEntry.Offset, Bytes: f.NeverEntry.Length}
}

// BytesPerKey returns how many bytes an exception takes.
func (e Exceptions) BytesPerKey() float64 { return float64(e.Bytes) / float64(e.Keys) }
