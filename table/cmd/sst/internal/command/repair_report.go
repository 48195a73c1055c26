package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/codecs"
)

// report prints what was kept and what was lost.
func (r *tableRepair) report(out io.Writer) {
	s, limit, path := r.found, r.limit, r.file.Path
	if s.Searched {
		text.Line(out, "%s: the index cannot be read, so blocks were found by their checksums (%s)", path, reason(s.Damage, limit))
	} else if s.Damage != nil {
		text.Line(out, "%s: the table cannot be opened (%s)", path, reason(s.Damage, limit))
	}
	if r.file.OrderNote != "" {
		text.Line(out, "%s: %s", path, r.file.OrderNote)
	}
	reportLosses(out, path, "sorted", &s.Disorder, limit)
	reportLosses(out, path, "lost", &s.Lost, limit)
	reportLosses(out, path, "skipped", &s.LeftOut, limit)
	if r.twice > 0 {
		text.Line(out, "%s: skipped %s with a repeated key, and kept the first of each in the file", path, text.Count(r.twice, "pair"))
	}
	if r.pairs == 0 && (s.Damage != nil || s.Lost.Any()) {
		text.Line(out, "%s: found no entry that can be read, and did not write %s", path, r.out)
		return
	}
	text.Line(out, "%s: wrote %s from %s to %s", path, text.Count(uint64(r.pairs), "pair"), text.Count(uint64(s.Blocks), "data block"), r.out)
	if dbfile.IsInManifest(path) {
		text.Line(out, "%s: the new table cannot take its place in the database, because the MANIFEST has the size of the old one: for a database of all that can still be read, run: %s", path, dbfile.RepairCommand(filepath.Dir(path)))
	}
}

// reportLosses prints the first losses, and totals of the others.
func reportLosses(out io.Writer, path, what string, losses *salvage.Losses, limit memory.Limit) {
	for _, l := range losses.First {
		text.Line(out, "%s: %s %s (%s)", path, what, l.What, reason(l.Why, limit))
	}
	if losses.More == 0 {
		return
	}
	largest := ""
	if losses.Largest != nil {
		largest = fmt.Sprintf(" (the largest: %s)", reason(losses.Largest, limit))
	}
	text.Line(out, "%s: %s %s, %s in total%s", path, what, text.Count(uint64(losses.More), "other place"), text.Count(uint64(losses.Bytes), "byte"), largest)
}

// reason formats err without the file and the package.
func reason(err error, limit memory.Limit) string {
	var tooLarge *codecs.TooLargeError
	if errors.As(err, &tooLarge) {
		return fmt.Sprintf("a block decodes to %v", limit.CheckPair(int64(tooLarge.Size)))
	}
	var c *table.CorruptionError
	if errors.As(err, &c) {
		err = c
	}
	return strings.TrimPrefix(err.Error(), "table: ")
}
