package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/partition"
	"github.com/sievetable/sievetable/table/set"
)

// isSet reports whether a set is built, rather than a table.
func (f *buildFlags) isSet(given func(name string) bool) bool {
	return f.set || given("entries-per-table") || f.out != "" && os.IsPathSeparator(f.out[len(f.out)-1])
}

// writeSet builds a set, or a layer of one.
func (b *build) writeSet() error {
	o, err := b.partition()
	if err != nil {
		return err
	}
	if err := cmp.Or(b.checkSet(), b.checkInputsOfSet()); err != nil {
		return err
	}
	if err := b.readLists(); err != nil {
		return err
	}
	var w *partition.Writer
	if b.layerOf == "" {
		w, err = partition.Create(b.ctx, o)
	} else {
		w, err = partition.CreateLayer(b.ctx, o, b.fits)
	}
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Commit
	if err := b.appendLayer(w); err != nil {
		return err
	}
	obsolete, err := w.Commit()
	if err != nil || b.layerOf != "" {
		return filterfile.ExplainTooManyKeys(err)
	}
	if b.read.N == 0 {
		text.Note(b.read.Stderr, "the input has no pairs, so %s is a set without tables", b.out)
	}
	if obsolete > 0 {
		text.Note(b.read.Stderr, "%s still has %s of the set that was there before: when nobody reads them any more, run: sst sweep --delete %s", b.out, text.Count(uint64(obsolete), "table"), text.ShellPath(b.out))
	}
	return nil
}

// partition returns the options of a set or of a layer.
func (b *build) partition() (o partition.Options, err error) {
	entries, err := cli.ParseCount("--entries-per-table", b.entriesPerTable, tablefilter.MaxEntries)
	return partition.Options{
		Dir: b.out, Entries: int(entries), Extension: b.extension(), TempDir: b.tempDir, NewTable: b.newTable,
	}, err
}

// checkSet checks the flags of a set. checkLayer has checked those of a layer.
func (b *build) checkSet() error {
	switch {
	case b.layerOf != "":
		return nil
	case !b.force && isSound(filepath.Join(b.out, set.ManifestName)):
		return cli.UsageErrorf("-o is %s, a set: to replace it, use --force", b.out)
	case b.out == "-":
		return cli.UsageErrorf("-o is - and a set needs a directory: name one")
	case isTableFile(b.out):
		return cli.UsageErrorf("-o is %s, the name of a table, and a set is a directory of tables: use another name, or %s/", b.out, b.out)
	case b.summary != "": // and OUT is DIR/
		return cli.UsageErrorf("--manifest-line is for one table, and OUT is a set: leave it out")
	case b.internalKeys:
		return errNoInternalKeys
	}
	return nil
}

// isSound reports whether a file is the manifest of a set. One that cannot be read is an error when it is replaced.
func isSound(manifest string) bool {
	_, err := dbdir.ReadSetManifest(manifest, dbdir.ListOptions{})
	return err == nil
}

// checkInputsOfSet checks the inputs of a set or of a layer.
func (b *build) checkInputsOfSet() error {
	for _, path := range b.inputs {
		if info, err := os.Stat(path); err == nil && info.IsDir() && isWithin(b.out, path) {
			return fmt.Errorf("%s: the input has the directory of the output, %s: want another output", path, b.out)
		}
	}
	return b.checkInputs(filepath.Join(b.out, set.ManifestName))
}

// isTableFile reports whether a name is that of a table's file.
func isTableFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".ldb" || ext == ".sst" || ext == ".filter"
}

// isWithin reports whether path is dir or below it.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dbdir.RealName(dir), dbdir.RealName(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// extension returns the extension of the tables' names.
func (b *build) extension() string {
	if b.filterOnly {
		return ".filter"
	}
	return ".ldb"
}

// newTable returns the writer of a table of a set.
func (b *build) newTable(to io.Writer) (partition.TableWriter, error) {
	o, keys := *b.options, new(keyRange)
	if b.never != "" {
		o.Never = b.good.within(keys)
	}
	return b.newPart(to, &o, keys)
}

func (b *build) newPart(to io.Writer, o *table.WriterOptions, keys *keyRange) (partition.TableWriter, error) {
	w, err := set.NewTableWriter(to, o)
	if err != nil {
		return nil, err
	}
	return &partTable{*b.bounded(w), w, keys}, nil
}

// A partTable is a table of a set, with bounded memory.
type partTable struct {
	boundedWriter
	w    *set.TableWriter
	keys *keyRange
}

func (t *partTable) Append(key, value []byte) error {
	t.keys.add(key)
	return t.boundedWriter.Append(key, value)
}

func (t *partTable) Close() (set.Table, error) {
	t.keys.whole = true
	return t.w.Close()
}

// checkSummary checks --manifest-line. The table must have a name that a manifest can have, and the
// summary must not replace a table.
func (b *build) checkSummary() error {
	switch {
	case b.summary == "":
		return nil
	case b.out == "-":
		return cli.UsageErrorf("-o is - and --manifest-line is given, want a file for the table: the summary has its name")
	case b.internalKeys:
		return errNoInternalKeys
	}
	if err := set.CheckName(filepath.Base(b.out)); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if sameName(b.summary, b.out) {
		return cli.UsageErrorf("-o and --manifest-line are both %s, want a file for each", b.out)
	}
	return checkNoTable("--manifest-line", b.summary)
}

// errNoInternalKeys is the error for a set of internal keys.
var errNoInternalKeys = cli.UsageErrorf("--internal-keys is yes, but the tables of a set have user keys: leave it out")

// sameName reports whether two paths name the same file, which may be missing.
func sameName(a, b string) bool { return dbdir.RealName(a) == dbdir.RealName(b) }

// checkNoTable returns an error if an output that is no table would replace a table.
func checkNoTable(flag, path string) error {
	if path != "-" && dbfile.IsTable(path) {
		return fmt.Errorf("%s is %s, which is a table: want another name", flag, path)
	}
	return nil
}

// writeSummary writes the line of the table with this path.
func writeSummary(w io.Writer, path string, t set.Table) error {
	t.Name = filepath.Base(path)
	return json.NewEncoder(w).Encode(t)
}
