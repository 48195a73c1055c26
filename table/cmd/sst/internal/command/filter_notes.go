package command

import (
	"io"

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
