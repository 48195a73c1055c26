package summary

import (
	"bytes"
	"cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sizes"
)

// LogStats are the statistics of a log.
type LogStats struct {
	File       string          `json:"file"`
	Size       int64           `json:"bytes"`
	Writes     int             `json:"writes"`
	Deletions  int             `json:"deletions"`
	KeyBytes   int64           `json:"key_bytes"`
	ValueBytes int64           `json:"value_bytes"`
	KeySizes   sizes.Histogram `json:"key_sizes"`
	ValueSizes sizes.Histogram `json:"value_sizes"`
	First      uint64          `json:"first_sequence"` // 0 if there are no writes
	Last       uint64          `json:"last_sequence"`
	Damage     []string        `json:"damage,omitempty"`

	Smallest []byte `json:"-"` // of user keys; nil: there are none, or their order is unknown
	Largest  []byte `json:"-"`
	Skipped  int    `json:"-"` // number of damaged parts
	// TruncatedTail is the size of an incomplete record at the end, in bytes.
	TruncatedTail int64 `json:"-"`
}

// Count reads the log, whose user keys are in an order.
func (s *LogStats) Count(l *dbfile.Log, order table.Comparer) error {
	for w, err := range l.Writes() {
		if err != nil {
			return err
		}
		s.Writes++
		if w.Kind == table.KindDelete {
			s.Deletions++
		}
		s.KeySizes.Add(len(w.UserKey))
		s.ValueSizes.Add(len(w.Value))
		s.KeyBytes += int64(len(w.UserKey))
		s.ValueBytes += int64(len(w.Value))
		s.First, s.Last = min(cmp.Or(s.First, w.Sequence), w.Sequence), max(s.Last, w.Sequence)
		if order != table.AnyOrder {
			s.addToRange(w.UserKey, order)
		}
	}
	s.Size, s.Damage = l.Size, l.Reports()
	if s.Skipped = len(l.Damage) + l.More; !l.ZeroTail {
		s.TruncatedTail = l.Tail
	}
	return nil
}

// addToRange extends the range of keys to one more.
func (s *LogStats) addToRange(user []byte, order table.Comparer) {
	if s.Smallest == nil || order.Compare(user, s.Smallest) < 0 {
		s.Smallest = bytes.Clone(user)
	}
	if s.Largest == nil || order.Compare(user, s.Largest) > 0 {
		s.Largest = bytes.Clone(user)
	}
}
