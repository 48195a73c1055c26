package command

import (
	"cmp"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// statsOfLog prints the statistics of a log, and then returns its damage.
func statsOfLog(out, stderr io.Writer, t target, asJSON bool) error {
	s := summary.LogStats{File: t.Path}
	l := t.nextLog()
	if err := s.Count(l, table.AnyOrder); err != nil {
		return err
	}
	if unwritten := l.UnwrittenNote(); unwritten != "" {
		text.Line(stderr, "sst: note: %s: %s", t.Path, unwritten)
	}
	if asJSON {
		return cmp.Or(text.WriteJSON(out, s), l.DamageError())
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	text.Row(w, "log", "%s: %s", t.Path, text.Bytes(uint64(s.Size)))
	if s.Writes == 0 {
		text.Row(w, "  writes", "none")
		return cmp.Or(w.Flush(), l.DamageError())
	}
	text.Row(w, "  writes", "%s, including %s", humanize.Comma(int64(s.Writes)), text.Count(uint64(s.Deletions), "deletion"))
	text.Row(w, "  sequence", "%d to %d", s.First, s.Last)
	text.Row(w, "  keys", "%s", text.Bytes(uint64(s.KeyBytes)))
	text.Row(w, "  values", "%s", text.Bytes(uint64(s.ValueBytes)))
	return cmp.Or(w.Flush(), l.DamageError())
}
