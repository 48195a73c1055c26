package command

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/report"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// set writes the report on a set. Damage is in the page and in the error.
func (f *reportFlags) set(ctx context.Context, path string, stdout, stderr io.Writer) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	s, damage := summary.ReadSet(path, o)
	if s == nil {
		return damage
	}
	for _, note := range s.Notes {
		text.Line(stderr, "sst: note: %s", note)
	}
	var one *source.File
	var entries uint64
	if i := slices.IndexFunc(s.Files, hasFilters); i >= 0 {
		o.Line, entries = s.Files[i].Table, s.Files[i].Entries
		if one, err = source.Open(s.Files[i].Path, o); err != nil {
			s.Damage = append(s.Damage, text.Lines(err)...)
			damage = errors.Join(damage, err)
		} else {
			defer one.Close() // it was only read
		}
	}
	return errors.Join(writePage(ctx, f.out, report.NewSet(s, path, one, entries).Write, stdout), damage)
}

// hasFilters reports whether the page can name the filters of a table for those of all: it is in the base,
// and can be read.
func hasFilters(t summary.SetTable) bool { return t.Layer == 0 && t.Problem == "" }
