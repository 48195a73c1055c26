package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/layout"
)

const convertLong = `Copy a table's entries, with all versions and deletions. Except for --filter-name, settings without
a flag stay as in FILE, as far as it shows them. OUT may be FILE. Directories are converted by sst
merge, damaged tables by sst repair.

With --never, sst only adds exceptions. FILE may then be a set.`

func convertCommand() *cobra.Command {
	var flags sourceFlags
	var to targetFlags
	var except filterfile.ExceptFlags
	cmd := &cobra.Command{
		Use:   "convert [flags] FILE [-o OUT]",
		Short: "Rewrite a table with other blocks, compression or filters",
		Long:  convertLong,
		Example: `  sst convert old.ldb -o new.ldb --compression zstd --block-size 16KiB
  sst convert users.ldb -o users.ldb --bits 14
  sst convert --never allowlist.txt blocklist/`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "OUT is complete and on disk",
			cli.ExitDamaged: "FILE is damaged, and OUT was not written",
		}.Annotation(),
		Args:              cli.Arguments("FILE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, tableNames...),
	}
	cmd.Flags().StringVarP(&to.out, "output", "o", "", "write to this `file` (required for a table)")
	to.add(cmd)
	showRetainedDefaults(cmd.Flags())
	addExcept(cmd, &except)
	dbdir.AddForce(cmd, new(bool))
	flags.add(cmd)
	cmd.RunE = cli.StopAtSignals(func(cmd *cobra.Command, args []string) error {
		switch {
		case except.Never != "" && dbdir.IsSet(args[0]):
			return flags.exceptSet(cmd, args[0], to.out, &except)
		case to.out == "":
			return errNoOutputTable
		}
		unlock, err := output.Lock(cmd.Context(), cmd.ErrOrStderr(), to.out, args[0])
		if err != nil {
			return err
		}
		defer unlock()
		return flags.withFile(args[0], cmd.ErrOrStderr(), func(f *dbfile.File) error {
			if except.Never != "" {
				except.AddFilter = fmt.Sprintf("sst convert %s --table-filter fuse -o NEW", format.ShellPath(args[0]))
				return except.WriteFile(cmd, f, to.out)
			}
			return to.convert(cmd, f)
		})
	})
	return cmd
}

// convert writes a table with the entries of f, and with its settings unless flags change them.
func (to *targetFlags) convert(cmd *cobra.Command, f *dbfile.File) error {
	stats, err := tablestats.Collect(f, func(err error) error {
		if err == f.Layout.FooterErr { // OUT gets a new footer
			return nil
		}
		return f.Wrap(err)
	}, tablestats.NewBudget(1))
	if err != nil {
		return err
	}
	to.retainSettings(stats, maxBlockSize)
	to.notePrefixLoss(cmd.ErrOrStderr(), f)
	c, err := to.newCopier(cmd, f.Internal, f.Order, unlimited)
	if err != nil {
		return err
	}
	kept := keepExceptions(f, c)
	c.bar = sync.OnceValue(func() *progress.Bar {
		return progress.Count(cmd.ErrOrStderr(), int64(stats.Entries), "converting", "entries")
	})
	if err := c.writeTable(func(c *copier) error { return copyEntries(c, f) }); err != nil {
		return err
	}
	kept.note(cmd.ErrOrStderr())
	return nil
}

// copyEntries appends all entries of f to OUT.
func copyEntries(c *copier, f *dbfile.File) error {
	for e, err := range f.Reader.All(&table.IterOptions{ReadAhead: 256 << 10}) {
		if err != nil {
			return f.Wrap(err)
		}
		err = c.Append(e.Key, e.Value)
		if errors.Is(err, table.ErrNever) { // the table itself rules out the key
			never := f.Filters().NeverEntry
			return f.Wrap(&table.CorruptionError{
				Block: layout.NeverBlock, Offset: int64(never.Offset), Length: int64(never.Length),
				Err: fmt.Errorf("key %s of the table is also an exception", format.Quote(e.Key)),
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exceptions are the exceptions that sst build --never stored in an old table, for a new table with its entries.
type exceptions struct {
	path       string // of the old table
	out        string // the new table, for a command line
	promised   bool   // the old table was written with --never; else it has none
	n          int
	sameFilter bool   // the new table filter equals the old one, so it needs no others
	leftOut    string // why they are dropped; "": they are kept
}

// keepExceptions makes the new table rule out the exceptions of f, unless that is impossible. It must be called when
// all other options are set.
func keepExceptions(f *dbfile.File, c *copier) *exceptions {
	old := f.Filters()
	e := &exceptions{path: f.Path, out: format.ShellPath(c.out), promised: old.NeverEntry.Name != "", n: old.Never.Len()}
	policy, hasFilter := c.options.TableFilterPolicy.(tablefilter.Checked)
	keys, fit := filterfile.Exceptions(&old.Filters, maxExpansion)
	if c.out == "-" {
		e.out = "TABLE"
	}
	switch {
	case !e.promised:
		return e
	case !hasFilter:
		e.leftOut = "the new table has no table filter"
		return e
	case rowblock.OrderOf(c.options.Comparer).Unchecked:
		e.leftOut = "the key order is unknown"
		return e
	case !fit:
		e.leftOut = fmt.Sprintf("they are over %d times as long as their block", maxExpansion)
		return e
	}
	var filter []byte // the old table filter; nil: none can be read
	if old.HasTable() {
		filter, _, _ = f.Layout.ReadBlock(old.TableEntry.Handle)
	}
	for i, key := range keys {
		keys[i] = f.SeekKey(key)
	}
	slices.SortFunc(keys, c.options.Comparer.Compare)
	c.options.Never = filterfile.Never(keys)
	policy.Watch = func(contents []byte) { e.sameFilter = bytes.Equal(contents, filter) }
	c.options.TableFilterPolicy = policy
	return e
}

// maxExpansion bounds the total length of exceptions, as a multiple of their block's length. A Writer stores at least
// one of 16 keys whole.
const maxExpansion = 16

// leaveOut drops the exceptions, because the damaged table contains one of them as a key.
func (e *exceptions) leaveOut(o *table.WriterOptions) {
	o.Never, e.leftOut = nil, "the table contains one of them"
}

// note prints a note if exceptions were dropped, or if the new filter may need more.
func (e *exceptions) note(stderr io.Writer) {
	switch {
	case !e.promised || e.n == 0 && e.leftOut != "":
	case e.leftOut != "":
		text.Note(stderr, "dropped %s of the filter: %s", text.Count(uint64(e.n), "exception"), e.leftOut)
	case !e.sameFilter:
		text.Note(stderr, "the table filter differs from the one in %s, and may contain other keys of the --never list by chance. To except these too, run: sst convert --never LIST %s -o NEW", e.path, e.out)
	}
}
