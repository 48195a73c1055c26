package command

import (
	"io"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// printSetSummary prints the summary of a set.
func printSetSummary(w io.Writer, s *summary.SetSummary) {
	text.Row(w, "set", "%s, %s, %s", s.Manifest, text.Count(uint64(s.Tables), "table"), text.Bytes(uint64(s.Bytes)))
	if s.Tables == 0 {
		return
	}
	mean := float64(s.Entries) / float64(s.Tables)
	text.Row(w, "entries", "%s, at most %s in a table, %.2f times the mean", humanize.Comma(int64(s.Entries)), humanize.Comma(int64(s.MostEntries)), float64(s.MostEntries)/mean)
	text.Row(w, "keys", "%v to %v", s.Smallest, s.Largest)
	text.Row(w, "filters and indexes", "%s", text.Bytes(uint64(s.TailBytes)))
}
