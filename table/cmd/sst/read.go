package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// aboutSources is in the help of all commands that read a SOURCE.
const aboutSources = `SOURCE is a table, a log, or a directory whose .ldb and .sst files and logs are
searched as one: that of a LevelDB or goleveldb database, of which they are those
that its MANIFEST lists (--all-tables: all), or of any tables. Of a key that several
have, the newest version counts; where keys carry no sequence numbers, that of the
table with the highest number for a name, or the last name. --no-log leaves out what
is in a database's logs and not yet in its tables. What is damaged of a log is
skipped, which a note says; what is cut short at its end was being written. A
database may be in use meanwhile.

The keys of a database's tables end in 8 bytes of sequence number and kind. That
is found out by the keys and the filter; --internal-keys yes or no overrules it.

Keys are in the order that the database's MANIFEST names, of a single table the one
beside it that lists the table, and else in bytewise order; --comparator overrules it.
In an order that is not known tables are gone through as they are, but no key is looked
up.`

// sourceFlags are what all commands that read a SOURCE have.
type sourceFlags struct {
	internalKeys string
	comparator   string // auto: by the MANIFEST and the keys
	allTables    bool
	noLogs       bool
	oneTable     bool
	through      bool             // entries are only gone through
	out          string           // the file that the command writes, and may not read
	stdout       func() io.Writer // of the command
}

func (f *sourceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.internalKeys, "internal-keys", "auto", "whether keys end in sequence number and kind: auto, yes or no")
	complete(cmd, "internal-keys", "auto", "yes", "no")
	cmd.Flags().StringVar(&f.comparator, "comparator", "auto", "the order of keys: "+strings.Join(comparers.Words(), ", ")+", or auto: by the MANIFEST")
	complete(cmd, "comparator", append(comparers.Words(), "auto")...)
	f.stdout = cmd.OutOrStdout
}

// addDir is add for commands that take directories.
func (f *sourceFlags) addDir(cmd *cobra.Command) {
	f.add(cmd)
	cmd.Flags().BoolVar(&f.allTables, "all-tables", false, "of a database, also tables that its MANIFEST does not list, and old logs")
	f.addNoLogs(cmd)
}

func (f *sourceFlags) addNoLogs(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.noLogs, "no-log", false, "of a database, leave out the writes of its logs that are in no table yet")
}

func (f *sourceFlags) options() (o source.Options, err error) {
	o.Through, o.AllTables, o.NoLogs, o.OneTable = f.through, f.allTables, f.noLogs, f.oneTable
	o.Outputs = output.Of(f.stdout(), f.out)
	switch f.internalKeys {
	case "auto":
	case "yes":
		o.InternalKeys = source.Yes
	case "no":
		o.InternalKeys = source.No
	default:
		return o, fmt.Errorf("--internal-keys is %q, want auto, yes or no", f.internalKeys)
	}
	if f.comparator != "auto" {
		order, err := comparers.ByWord(f.comparator)
		if err != nil {
			return o, err
		}
		o.Order = source.Chosen(order)
	}
	return o, nil
}

// with opens a source for do, and says on stderr what of it is not seen.
func (f *sourceFlags) with(path string, stderr io.Writer, do func(*source.Source) error) (err error) {
	o, err := f.options()
	if err != nil {
		return err
	}
	o.Note = func(note string) { text.Line(stderr, "sst: note: %s", note) }
	s, err := source.OpenSource(path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, note := range s.Notes {
		o.Note(note)
	}
	err = do(s)
	if s.Damage != nil && errors.Is(err, errNo) {
		err = nil // what is lost may have it
	}
	return errors.Join(err, s.Damage)
}

// withFile opens one table for do.
func (f *sourceFlags) withFile(path string, stderr io.Writer, do func(*source.File) error) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s: a directory, want one of its tables; sst scan prints all that it has, which sst build takes", path)
	}
	f.oneTable = true
	return f.with(path, stderr, func(s *source.Source) error { return do(s.File()) })
}

// bytesFlag is a flag's value with escapes. It tells no value from an empty one.
type bytesFlag []byte

func (b *bytesFlag) String() string { return text.Escape(*b) }
func (b *bytesFlag) Type() string   { return "key" }

func (b *bytesFlag) Set(s string) error {
	v, err := text.Unescape(s)
	*b = append([]byte{}, v...)
	return err
}

// complete has shells offer the values for a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}
