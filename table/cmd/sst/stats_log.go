package main

import (
	"cmp"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// logStats are the statistics of a log.
type logStats struct {
	File       string   `json:"file"`
	Size       int64    `json:"bytes"`
	Writes     int      `json:"writes"`
	Deletions  int      `json:"deletions"`
	KeyBytes   int64    `json:"key_bytes"`
	ValueBytes int64    `json:"value_bytes"`
	First      uint64   `json:"first_sequence"` // 0 if there are no writes
	Last       uint64   `json:"last_sequence"`
	Damage     []string `json:"damage,omitempty"`
}

func (s *logStats) count(l *source.Log) error {
	for w, err := range l.Writes() {
		if err != nil {
			return err
		}
		s.Writes++
		if w.Kind == table.KindDelete {
			s.Deletions++
		}
		s.KeyBytes += int64(len(w.UserKey))
		s.ValueBytes += int64(len(w.Value))
		s.First, s.Last = min(cmp.Or(s.First, w.Sequence), w.Sequence), max(s.Last, w.Sequence)
	}
	s.Size, s.Damage = l.Size, l.Reports()
	return nil
}

// statsOfLog prints the statistics of a log, and then returns its damage.
func statsOfLog(out io.Writer, path string, asJSON bool) error {
	s := logStats{File: path}
	l := source.Log{Path: path}
	if err := s.count(&l); err != nil {
		return err
	}
	if asJSON {
		return cmp.Or(text.WriteJSON(out, s), l.DamageError())
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	text.Row(w, "log", "%s: %s", path, bytesOf(uint64(s.Size)))
	text.Row(w, "  writes", "%s, including %s", humanize.Comma(int64(s.Writes)), count(uint64(s.Deletions), "deletion"))
	text.Row(w, "  sequence", "%d to %d", s.First, s.Last)
	text.Row(w, "  keys", "%s", bytesOf(uint64(s.KeyBytes)))
	text.Row(w, "  values", "%s", bytesOf(uint64(s.ValueBytes)))
	return cmp.Or(w.Flush(), l.DamageError())
}
