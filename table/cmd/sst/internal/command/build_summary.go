package command

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/set"
)

// checkSummary checks --summary. The table must have a name that a manifest can have, and the
// summary must not replace a table.
func (b *build) checkSummary() error {
	switch {
	case b.summary == "":
		return nil
	case b.out == "-":
		return cli.UsageErrorf("-o is - and --summary is given, want a file for the table: the summary has its name")
	case b.internalKeys:
		return errNoInternalKeys
	}
	if err := set.CheckName(filepath.Base(b.out)); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if sameName(b.summary, b.out) {
		return cli.UsageErrorf("-o and --summary are both %s, want a file for each", b.out)
	}
	return checkNoTable("--summary", b.summary)
}

// errNoInternalKeys is the error for a set of internal keys.
var errNoInternalKeys = cli.UsageErrorf("--internal-keys is given, but the tables of a set have user keys: leave it out, or leave out --summary and --entries-per-table")

// sameName reports whether two paths name the same file, which may be missing.
func sameName(a, b string) bool { return realName(a) == realName(b) }

// realName returns the path of a file in its real directory.
func realName(path string) string {
	dir := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	path = filepath.Join(dir, filepath.Base(path))
	if real, err := filepath.EvalSymlinks(path); err == nil { // the file is there
		return real
	}
	return path
}

// checkNoTable returns an error if an output that is no table would replace a table.
func checkNoTable(flag, path string) error {
	if path != "-" && source.IsTable(path) {
		return fmt.Errorf("%s is %s, which is a table: want another name", flag, path)
	}
	return nil
}

// writeSummary writes the line of the table with this path.
func writeSummary(w io.Writer, path string, t set.Table) error {
	t.Name = filepath.Base(path)
	return json.NewEncoder(w).Encode(t)
}
