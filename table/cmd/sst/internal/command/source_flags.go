package command

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// sourceFlags are the flags of all commands that read a SOURCE.
type sourceFlags struct {
	source.Options // except those that the fields below set
	internalKeys   string
	comparator     string           // auto: as the MANIFEST and the keys say
	out            string           // the file that the command writes, and must not read
	stdout         func() io.Writer // standard output of the command
}

func (f *sourceFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(cli.Choice(&f.internalKeys, "auto", "auto", "yes", "no"), "internal-keys", "keys are internal keys: auto, yes or no")
	cmd.Flags().Var(cli.Choice(&f.comparator, "auto", append([]string{"auto"}, comparers.FlagValues()...)...), "comparator", "key order: auto, "+text.OneOf(comparers.FlagValues()...))
	cli.ExplainIn(cmd, "sources", "internal-keys", "comparator")
	f.stdout = cmd.OutOrStdout
}

// addDir adds the flags of commands that read directories too.
func (f *sourceFlags) addDir(cmd *cobra.Command) {
	f.add(cmd)
	cmd.Flags().BoolVar(&f.AllTables, "all-tables", false, "also read tables and logs that the MANIFEST does not list")
	cli.ExplainIn(cmd, "sources", "all-tables")
	f.addNoLogs(cmd)
}

// addNoLogs is like addDir, for commands that open no tables.
func (f *sourceFlags) addNoLogs(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.NoLogs, "no-log", false, "ignore a database's logs")
	cli.ExplainIn(cmd, "sources", "no-log")
}

// addStrict adds the flag for commands that pass over damage.
func (f *sourceFlags) addStrict(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.Strict, "strict", false, "stop at the first damage")
	cli.ExplainIn(cmd, "sources", "strict")
}

var internalKeys = map[string]dbfile.InternalKeys{"auto": dbfile.Auto, "yes": dbfile.Yes, "no": dbfile.No}

func (f *sourceFlags) options() source.Options {
	o := f.Options
	o.Outputs, o.InternalKeys = output.FilesOf(f.stdout(), f.out), internalKeys[f.internalKeys]
	if order := comparers.ByFlagValue(f.comparator); order != nil {
		o.Order = dbfile.ExplicitOrder(order)
	}
	return o
}

// with opens a source for do, and prints its notes on stderr.
func (f *sourceFlags) with(path string, stderr io.Writer, do func(*source.Source) error) (err error) {
	o := f.options()
	o.Note = func(note string) { text.Note(stderr, "%s", note) }
	s, err := source.OpenSource(path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, note := range s.Notes {
		o.Note(note)
	}
	if o.Strict && s.Damage != nil {
		return s.Damage
	}
	err = do(s)
	if note := s.MissingNote(err); note != "" {
		o.Note(note)
	}
	damage := s.LogDamage()
	if damage != nil {
		damage = errors.Join(damage, errors.New("older or deleted versions of the keys in lost writes may appear"))
	}
	damage = errors.Join(damage, s.Damage)
	if damage != nil && errors.Is(err, cli.ErrNegative) {
		err = nil // the missing part may contain the key
	}
	return errors.Join(err, damage)
}

// withFile opens a single table for do.
func (f *sourceFlags) withFile(path string, stderr io.Writer, do func(*dbfile.File) error) error {
	if dbdir.IsDirectory(path) {
		kind := "the manifest of a set"
		if files.IsDir(path) {
			kind = "a directory"
		}
		return fmt.Errorf("%s is %s: name one of its tables, or merge all into one: %s", path, kind, files.MergeLine("", path, "OUT"))
	}
	f.OneTable = true
	return f.with(path, stderr, func(s *source.Source) error { return do(s.File()) })
}

// Patterns of file names. The help of build recommends .filter for a filter without a table.
var (
	tableNames  = []string{"*.ldb", "*.sst", "*.filter"}
	sourceNames = slices.Concat(tableNames, []string{"*.log", "*.jsonl"}) // set.jsonl is the manifest of a set
)
