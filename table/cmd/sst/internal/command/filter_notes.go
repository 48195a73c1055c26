package command

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// noteFilterLoss says what a new table of the same entries does not have of the filters of f.
func (w *writerFlags) noteFilterLoss(stderr io.Writer, f *source.File) {
	if n := f.Filters().Never.Len(); n > 0 {
		text.Line(stderr, "sst: note: %s of the filter are left out, since another filter has others: to have them, use sst build --never", text.Count(uint64(n), "exception"))
	}
	if p, err := f.Reader.Properties(); err == nil && p.FilterPrefix != "" && w.filterPrefix == "" {
		text.Line(stderr, "sst: note: the filters of the new table do not hold prefixes, as those of the old one do by %s", text.Escape([]byte(p.FilterPrefix)))
	}
}

// noteFilterName says what other programs see in a table with a filter only, if it gets the name of one of
// theirs.
func noteFilterName(stderr io.Writer, out string) {
	if ext := filepath.Ext(out); ext == ".ldb" || ext == ".sst" {
		text.Line(stderr, "sst: note: %s will be an empty table for LevelDB and others: a name such as %s tells it apart", out, strings.TrimSuffix(out, ext)+".filter")
	}
}
