package command

import (
	"io"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// prefixerNames is how the names of the Prefixers begin that --filter-prefix can name. The rest is the
// value of the flag.
const prefixerNames = "sievetable.prefix."

// filterPrefixOf returns the Prefixer that a value of --filter-prefix names.
func filterPrefixOf(value string) (table.Prefixer, error) {
	if name, err := printable.Unescape(value); err == nil && value != "delimiter:" {
		if p := table.PrefixerOf(prefixerNames + string(name)); p != nil && !isNoLength(value) {
			return p, nil
		}
	}
	return nil, cli.UsageErrorf("--filter-prefix is %s, want delimiter:TEXT, such as delimiter:/, or length:BYTES with 1 byte or more", wire.Quote([]byte(value)))
}

// isNoLength reports whether the value is a length < 1, with which no key has a prefix.
func isNoLength(value string) bool {
	digits, found := strings.CutPrefix(value, "length:")
	n, err := strconv.Atoi(digits)
	return found && (err != nil || n < 1)
}

// retainedFilterPrefix returns the value of --filter-prefix for the Prefixer that a table names, or "" if
// no value stands for it.
func retainedFilterPrefix(p *table.Properties) string {
	if p == nil {
		return ""
	}
	value, found := strings.CutPrefix(p.FilterPrefix, prefixerNames)
	if !found {
		return ""
	}
	if value = printable.Escape([]byte(value)); len(value) == 0 {
		return ""
	}
	if _, err := filterPrefixOf(value); err != nil {
		return ""
	}
	return value
}

// notePrefixLoss says that the filters of a new table of the same entries do not hold prefixes, if those of
// f do.
func (w *writerFlags) notePrefixLoss(stderr io.Writer, f *dbfile.File) {
	if p, err := f.Reader.Properties(); err == nil && p.FilterPrefix != "" && w.filterPrefix == "" {
		text.Note(stderr, "the filters of the new table do not hold prefixes, as those of the old one do by %s", printable.Escape([]byte(p.FilterPrefix)))
	}
}
