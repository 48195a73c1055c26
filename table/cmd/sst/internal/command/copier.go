package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/merge"
	"github.com/sievetable/sievetable/table/set"
)

// targetFlags are the flags that describe OUT.
type targetFlags struct {
	writerFlags
	cli.MemoryFlags
	out, tempDir         string
	filterOnly           bool
	set, database, force bool
	entriesPerTable      int
	tableSize            int64
	summary              string // a file for the table's line of a manifest; "": none
}

// unlimited is the limit of commands without --memory.
const unlimited memory.Limit = 1<<63 - 1

// givenLimit returns and applies --memory, for commands that need little memory for most sources. Without the flag,
// they are unlimited.
func (f *targetFlags) givenLimit() (limit memory.Limit, release func(), err error) {
	if !f.given("memory") {
		return unlimited, func() {}, nil
	}
	if limit, err = f.Limit(); err != nil {
		return 0, nil, err
	}
	return limit, limit.Apply(), nil
}

// An appender takes pairs in the order of their keys.
type appender interface {
	Append(key, value []byte) error
}

// A copier writes pairs to OUT: a table, a set, a set's layer, or a database. OUT gets its name once it is complete
// and on disk, and not after an error.
type copier struct {
	*targetFlags
	cmd       *cobra.Command
	options   *table.WriterOptions
	order     table.Comparer // of user keys
	internal  bool           // Append takes internal keys
	limit     memory.Limit
	never     *keyList             // the keys of --never; nil: none
	sequence  uint64               // the last sequence number of a database
	copyOf    string               // directory whose permissions a new database gets; "": none
	replaced  *source.Source       // OUT, if it is a set that must not change meanwhile; nil: none
	bar       func() *progress.Bar // of the pairs; nil: none
	stdout    io.Writer            // for -o -; nil: a file named -
	to        appender
	pairs     uint64       // number of appended pairs
	temporary output.Files // OUT until it is complete
}

// newCopier checks the flags for tables.
func (f *targetFlags) newCopier(cmd *cobra.Command, internal bool, order table.Comparer, limit memory.Limit) (*copier, error) {
	o, err := f.options(internal, order, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	if err := limit.CheckPair(int64(o.BlockSize)); err != nil {
		return nil, fmt.Errorf("--block-size is %w", err)
	}
	o.FilterOnly, o.Concurrency = f.filterOnly, min(o.Concurrency, limit.MaxWorkers(o.BlockSize))
	return &copier{
		targetFlags: f, cmd: cmd, options: o, order: order, internal: internal, limit: limit, stdout: cmd.OutOrStdout(),
	}, nil
}

func (c *copier) note(format string, args ...any) { text.Note(c.cmd.ErrOrStderr(), format, args...) }

// sorting returns how to sort pairs for OUT.
func (c *copier) sorting() *merge.SorterOptions {
	return &merge.SorterOptions{Comparer: c.options.Comparer, Memory: c.limit.SortMemory(), Dir: c.tempDir}
}

// Append appends a pair to OUT.
func (c *copier) Append(key, value []byte) error {
	if err := memory.CheckWrite(key, value); err != nil {
		return err
	}
	if c.pairs++; c.bar != nil && c.pairs%progressEvery == 0 {
		c.bar().Add(progressEvery)
	}
	return c.to.Append(key, value)
}

// progressEvery is the number of entries between updates of a progress bar.
const progressEvery = 1 << 12

// fill calls appendAll to append all pairs to w, and then complete.
func (c *copier) fill(w appender, appendAll func(*copier) error, complete func() error) error {
	c.to, c.pairs = w, 0
	err := appendAll(c)
	if c.bar != nil {
		c.bar().Done()
	}
	if err != nil {
		return filterfile.ExplainTooManyKeys(err, fewerKeys)
	}
	if engine := notRepaired[c.compression]; engine != "" && !c.retained && (c.internal || c.database) && !c.filterOnly {
		c.note("goleveldb and %s cannot read %s, and their repairs (RecoverFile, RepairDB) silently drop such tables: for these engines, use --compression snappy", engine, c.compression)
	}
	return filterfile.ExplainTooManyKeys(complete(), fewerKeys)
}

// fewerKeys is advice if a table has too many keys for a fuse filter.
const fewerKeys = tablefilter.SmallerTables + ", or use --table-filter table-bloom:BITS"

// write writes OUT as a table, a set or a database.
func (c *copier) write(appendAll func(*copier) error) (err error) {
	switch {
	case c.database:
		err = c.writeDatabase(appendAll)
	case c.isSet():
		err = c.writeSet(appendAll)
	default:
		err = c.writeTable(appendAll)
	}
	if err == nil && c.pairs == 0 {
		c.note("the input has no pairs, so the output is empty")
	}
	return err
}

// isSet reports whether a set is written, rather than a table.
func (f *targetFlags) isSet() bool {
	return !f.database && (f.set || f.given("entries-per-table") || f.out != "" && os.IsPathSeparator(f.out[len(f.out)-1]))
}

// check returns an error if OUT does not suit the flags.
func (c *copier) check() error {
	info, err := os.Stat(c.out)
	isDir := err == nil && info.IsDir()
	switch {
	case c.database && c.out == "-":
		return cli.UsageErrorf("--database needs a directory, not -o -")
	case c.database:
		return nil
	case !c.isSet() && isDir:
		return cli.UsageErrorf("-o is %s, a directory: name a file for a table, NEW/ for a set, or use --database", c.out)
	case !c.isSet():
		return c.checkSummary()
	case c.out == "-":
		return cli.UsageErrorf("a set needs a directory, not -o -")
	case slices.Contains(tableNames, "*"+filepath.Ext(c.out)):
		return cli.UsageErrorf("-o is %s, the name of a table, but a set is a directory: use another name, or %s/", c.out, c.out)
	case c.summary != "": // and OUT is DIR/
		return cli.UsageErrorf("--manifest-line is for a single table, not a set: leave it out")
	case c.internal:
		return errNoInternalKeys
	}
	return nil
}

// checkSummary checks --manifest-line. The table's name must be valid in a manifest, and the summary must not replace
// a table.
func (c *copier) checkSummary() error {
	switch {
	case c.summary == "":
		return nil
	case c.out == "-":
		return cli.UsageErrorf("--manifest-line needs a named table, not -o -")
	case c.internal:
		return errNoInternalKeys
	}
	if err := set.CheckName(filepath.Base(c.out)); err != nil {
		return fmt.Errorf("-o: %s", strings.TrimPrefix(err.Error(), "set: "))
	}
	if dbdir.RealName(c.summary) == dbdir.RealName(c.out) {
		return cli.UsageErrorf("-o and --manifest-line are both %s: use two files", c.out)
	}
	return checkNoTable("--manifest-line", c.summary)
}

// checkNoTable returns an error if an output that is not a table would replace a table.
func checkNoTable(flag, path string) error {
	if path != "-" && dbfile.IsTable(path) {
		return fmt.Errorf("%s is %s, a table: use another name", flag, path)
	}
	return nil
}

// errNoInternalKeys is the error for a set of internal keys.
var errNoInternalKeys = cli.UsageErrorf("--internal-keys yes does not apply to sets, whose tables have user keys: leave it out")
