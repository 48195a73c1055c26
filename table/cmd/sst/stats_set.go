package main

import (
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// printSetSummary prints the summary of a set, and then returns its damage.
func printSetSummary(out, stderr io.Writer, s *summary.SetSummary, asJSON bool, damage error) error {
	if s == nil {
		return damage
	}
	for _, note := range s.Notes {
		text.Line(stderr, "sst: note: %s", note)
	}
	if asJSON {
		if err := text.WriteJSON(out, s); err != nil {
			return err
		}
		return damage
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	text.Row(w, "set", "%s, %s, %s", s.Manifest, text.Count(uint64(s.Tables), "table"), text.Bytes(uint64(s.Bytes)))
	if s.Tables > 0 {
		mean := float64(s.Entries) / float64(s.Tables)
		text.Row(w, "entries", "%s, at most %s in a table, %.2f times the mean", humanize.Comma(int64(s.Entries)), humanize.Comma(int64(s.MostEntries)), float64(s.MostEntries)/mean)
		text.Row(w, "keys", "%v to %v", s.Smallest, s.Largest)
		text.Row(w, "filters and indexes", "%s", text.Bytes(uint64(s.TailBytes)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return damage
}
