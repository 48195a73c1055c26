package command

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// notePrefixLoss says that the filters of a new table of the same entries do not hold prefixes, if those of
// f do.
func (w *writerFlags) notePrefixLoss(stderr io.Writer, f *source.File) {
	if p, err := f.Reader.Properties(); err == nil && p.FilterPrefix != "" && w.filterPrefix == "" {
		text.Line(stderr, "sst: note: the filters of the new table do not hold prefixes, as those of the old one do by %s", printable.Escape([]byte(p.FilterPrefix)))
	}
}

// noteFilterName says what other programs see in a table with a filter only, if it gets the name of one of
// theirs.
func noteFilterName(stderr io.Writer, out string) {
	if ext := filepath.Ext(out); ext == ".ldb" || ext == ".sst" {
		text.Line(stderr, "sst: note: %s will be an empty table for LevelDB and others: a name such as %s tells it apart", out, strings.TrimSuffix(out, ext)+".filter")
	}
}
