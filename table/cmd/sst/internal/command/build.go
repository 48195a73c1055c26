package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// buildFlags are the flags of build.
type buildFlags struct {
	targetFlags
	format, internal        string
	sorted, noFinalNewline  bool
	onDuplicate, comparator string
	never, layerOf, delete  string
	filterKeys              uint64
}

const buildLong = `Build a table, a set, a database or a filter. Each INPUT is a file of pairs in any order, or a
directory: its regular files are pairs of path and contents. INPUT - is standard input, the
default if there is no --delete. OUT may replace a file, and appears once it is complete.
See sst help formats, sets and filters.`

func buildCommand() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"import", "load", "create"},
		Use:        "build [flags] {-o OUT | --layer-of SET} [INPUT...]",
		Short:      "Build a table, set, database or filter from lines or files",
		Long:       buildLong,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "OUT is complete and on disk",
			cli.ExitDamaged: "the set's manifest is damaged",
		}.Annotation(),
		Args:              cli.Arguments("INPUT", 0, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.AnyFile,
		Example: `  sst build -o capitals.ldb capitals.tsv
  sst build --set -o blocklist --on-duplicate first urls.txt
  sst build -o bad.filter --filter-only --never good.txt bad.txt`,
	}
	flags := cmd.Flags()
	f.addOut(cmd)
	cli.AddInputFormat(cmd, &f.format, "")
	flags.Var(cli.Choice(&f.onDuplicate, ruleError, ruleError, ruleFirst, ruleLast, ruleCount), "on-duplicate", "for a repeated key: error, first, last or count")
	flags.BoolVar(&f.sorted, "sorted", false, "the lines are in key order")
	flags.BoolVar(&f.noFinalNewline, "no-final-newline", false, "with --sorted, accept a last line without a newline")
	flags.Var(cli.Choice(&f.internal, "auto", "auto", "yes", "no"), "internal-keys", "lines have sequence and kind: auto, yes or no")
	flags.BoolVar(&f.filterOnly, "filter-only", false, "write a filter of the keys and no entries")
	flags.StringVar(&f.never, "never", "", "no key in this `file` is ever a false positive")
	flags.Var(cli.Count(&f.filterKeys, "", tablefilter.MaxEntries), "filter-keys", "size the filter for this `number` of keys")
	flags.StringVar(&f.layerOf, "layer-of", "", "add a layer to this `set`, in place of -o OUT")
	flags.StringVar(&f.delete, "delete", "", "with --layer-of, remove the keys in this `file`")
	flags.StringVar(&f.summary, "manifest-line", "", "also write the table's line for sst manifest to this `file`")
	flags.Var(cli.Choice(&f.comparator, "bytewise", comparers.FlagValues()...), "comparator", "of databases: "+text.OneOf(comparers.FlagValues()...))
	f.addOutput(cmd)
	cli.ExplainIn(cmd, "filters", "filter-only", "filter-keys", "never")
	cli.Exclude(cmd, "database", "manifest-line", "filter-only", "never", "layer-of")
	cli.Exclude(cmd, "layer-of", "output", "manifest-line", "set", "force")
	cli.Exclude(cmd, "manifest-line", "set", "entries-per-table")
	cli.Exclude(cmd, "filter-only", "bits", "filter-name", "filter-base-lg", "block-size", "restart-interval")
	cli.Needs(cmd, "comparator", "database")
	cli.Needs(cmd, "delete", "layer-of")
	cli.Needs(cmd, "filter-keys", "filter-only")
	cli.Needs(cmd, "no-final-newline", "sorted")
	cmd.RunE = cli.StopAtSignals(f.run)
	return cmd
}

// addOut adds the flag that names OUT.
func (f *targetFlags) addOut(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write to this `file` or directory")
}

// addOutput adds the flags that say what OUT is, and how to write it.
func (f *targetFlags) addOutput(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.set, "set", false, "write a set to the directory OUT (default for OUT/)")
	flags.Var(cli.Count(&f.entriesPerTable, "1M", tablefilter.MaxEntries), "entries-per-table", "`number` of entries per table of a set")
	dbdir.AddForce(cmd, &f.force)
	flags.BoolVar(&f.database, "database", false, "write a LevelDB database to a new directory OUT")
	flags.Var(tableSize(&f.tableSize), "table-size", "about the `size` of a database's tables")
	f.addMemory(cmd)
	f.writerFlags.add(cmd)
	cli.Exclude(cmd, "database", "set", "entries-per-table")
	cli.Needs(cmd, "table-size", "database")
}

// addMemory adds the flags for memory and temporary files.
func (f *targetFlags) addMemory(cmd *cobra.Command) {
	f.MemoryFlags.Add(cmd)
	cmd.Flags().StringVar(&f.tempDir, "temp-dir", "", "`directory` for temporary files")
	cli.ExplainIn(cmd, "tables", "memory", "temp-dir")
}

// missingOut returns the error for a missing OUT.
func (f *targetFlags) missingOut() error {
	if f.database {
		return cli.UsageErrorf("missing -o OUT, a new directory for the database")
	}
	return errNoOutputTable
}

// A build is a run of sst build.
type build struct {
	*copier
	flags   *buildFlags
	read    *input.Reader
	removed *keyList // keys of --delete; nil: none
}

// run builds OUT.
func (f *buildFlags) run(cmd *cobra.Command, inputs []string) error {
	if err := f.checkLayer(); err != nil {
		return err
	}
	if f.filterOnly {
		if err := f.setFilterOnly(cmd); err != nil {
			return err
		}
	}
	if len(inputs) == 0 && f.delete != "" && f.delete != "-" && isPipe(cmd.InOrStdin()) {
		text.Note(cmd.ErrOrStderr(), "with --delete, standard input is not read: to add its lines, pass - as INPUT")
	}
	if len(inputs) == 0 && f.delete == "" {
		inputs = []string{"-"}
	}
	b, err := f.newBuild(cmd, inputs)
	if err != nil {
		return err
	}
	defer b.limit.Apply()()
	if b.flags.layerOf == "" {
		err = b.check()
	}
	if err := cmp.Or(err, b.checkInputs()); err != nil {
		return err
	}
	for _, l := range []*keyList{b.never, b.removed} {
		if l == nil {
			continue
		}
		in := *b.read
		in.Options.KeysOnly = true
		defer l.file.Close() // which removes it
		if err := l.read(b.copier, in); err != nil {
			return err
		}
	}
	if b.flags.layerOf != "" {
		return b.writeLayer()
	}
	return b.write(b.appendPairs)
}

// newBuild checks the flags, and returns a build of the inputs.
func (f *buildFlags) newBuild(cmd *cobra.Command, inputs []string) (*build, error) {
	if f.out == "" {
		return nil, f.missingOut()
	}
	limit, err := f.Limit()
	if err != nil {
		return nil, err
	}
	internal := f.internal == "yes"
	c, err := f.newCopier(cmd, internal, comparers.ByFlagValue(f.comparator), limit)
	if err != nil {
		return nil, err
	}
	b := &build{copier: c, flags: f}
	b.read = &input.Reader{Paths: inputs, Stdin: cmd.InOrStdin(), Stderr: cmd.ErrOrStderr()}
	b.read.Options = input.Options{Format: f.format, InternalKeys: internal, WholeLines: f.sorted && !f.noFinalNewline, Memory: limit}
	if f.never != "" {
		c.never = &keyList{path: f.never}
		c.options.Never = c.never.within(new(keyRange))
	}
	if f.delete != "" {
		b.removed = &keyList{path: f.delete}
	}
	return b, cmp.Or(f.sizeFilter(c), b.checkFlags())
}

// setFilterOnly adjusts other flags for --filter-only.
func (f *buildFlags) setFilterOnly(cmd *cobra.Command) error {
	f.bits = -1
	if !f.given("table-filter") {
		f.tableFilter = tablefilter.Fuse(12)
	}
	if f.tableFilter == tablefilter.None {
		return cli.UsageErrorf("--filter-only needs a filter, but --table-filter is none")
	}
	if !f.given("on-duplicate") {
		f.onDuplicate = ruleFirst
	}
	if f.layerOf == "" {
		filterfile.NoteName(cmd.ErrOrStderr(), f.out)
	}
	return nil
}

// sizeFilter sets the size of the table filter, if --filter-keys is given.
func (f *buildFlags) sizeFilter(c *copier) (err error) {
	if f.filterKeys == 0 {
		return nil
	}
	checked, _ := c.options.TableFilterPolicy.(tablefilter.Checked)
	p, ok := checked.TablePolicy.(filter.TableBloom)
	if !ok {
		return cli.UsageErrorf("--filter-keys needs --table-filter table-bloom:BITS, not %s: other filters cannot be merged", f.tableFilter)
	}
	c.options.TableFilterPolicy, err = filterfile.Sized(p, f.filterKeys, c.cmd.ErrOrStderr())
	return err
}

// checkFlags rejects flags that cannot be combined. At most one input or list may be standard input.
func (b *build) checkFlags() error {
	counts, fromInput := b.flags.onDuplicate == ruleCount, slices.Contains(b.read.Paths, "-")
	switch never := b.flags.never; {
	case counts && b.filterOnly:
		return cli.UsageErrorf("--filter-only and --on-duplicate count cannot be combined: a filter stores no values")
	case counts && b.internal:
		return cli.UsageErrorf("--internal-keys and --on-duplicate count cannot be combined: an engine gives each entry its own sequence number")
	case never != "" && b.options.TableFilterPolicy == nil:
		return cli.UsageErrorf("--never needs a table filter: add --table-filter fuse:12 or --filter-only")
	case never == "-" && fromInput:
		return cli.UsageErrorf("--never and the input are both standard input: use a file for one of them")
	case never == "-" && b.flags.delete == "-":
		return cli.UsageErrorf("--never and --delete are both standard input: use a file for one of them")
	case b.flags.delete == "-" && fromInput:
		return cli.UsageErrorf("--delete and the input are both standard input: use a file for one of them")
	}
	return nil
}

// checkInputs rejects inputs that are also outputs.
func (b *build) checkInputs() error {
	outputs := []string{b.out, b.summary}
	if b.flags.layerOf != "" || b.isSet() || b.database {
		for _, path := range b.read.Paths {
			if info, err := os.Stat(path); err == nil && info.IsDir() && isWithin(b.out, path) {
				return fmt.Errorf("%s: the input contains the output, %s: use another output", path, b.out)
			}
		}
		outputs = []string{filepath.Join(b.out, set.ManifestName)}
	}
	b.read.Options.Outputs = output.FilesOf(b.stdout, outputs...)
	lists := slices.DeleteFunc([]string{b.flags.never, b.flags.delete}, func(path string) bool { return path == "" })
	ofLists := b.read.Options
	ofLists.FilesOnly = true
	return cmp.Or(b.read.Options.Check(b.read.Paths, b.read.Stdin), ofLists.Check(lists, b.read.Stdin))
}

// isWithin reports whether path is dir or below it.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dbdir.RealName(dir), dbdir.RealName(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// isPipe reports whether in is a pipe.
func isPipe(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
