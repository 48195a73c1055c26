package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// aboutSources is in the help of all commands that read a SOURCE.
const aboutSources = `SOURCE is a table, or a directory whose .ldb and .sst files are searched as one:
that of a LevelDB or goleveldb database, of which they are those that its MANIFEST
lists (--all-tables: all), or of any tables. Of a key that several tables have, the
newest version counts; where keys carry no sequence numbers, that of the table with
the highest number for a name, or the last name. A database's log is not read, and
while the database is open its tables come and go: close it first.

The keys of a database's tables end in 8 bytes of sequence number and kind. That
is found out by the keys and the filter; --internal-keys yes or no overrules it.`

// sourceFlags are what all commands that read a SOURCE have.
type sourceFlags struct {
	internalKeys string
	allTables    bool
	through      bool             // entries are only gone through
	out          string           // the file that the command writes, and may not read
	stdout       func() io.Writer // of the command
}

func (f *sourceFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.internalKeys, "internal-keys", "auto", "whether keys end in sequence number and kind: auto, yes or no")
	complete(cmd, "internal-keys", "auto", "yes", "no")
	f.stdout = cmd.OutOrStdout
}

// addDir is add for commands that take directories.
func (f *sourceFlags) addDir(cmd *cobra.Command) {
	f.add(cmd)
	cmd.Flags().BoolVar(&f.allTables, "all-tables", false, "of a database, also the tables that its MANIFEST does not list")
}

func (f *sourceFlags) options() (o source.Options, err error) {
	o.Through, o.AllTables = f.through, f.allTables
	o.Outputs = output.Of(f.stdout(), f.out)
	switch f.internalKeys {
	case "auto":
	case "yes":
		o.InternalKeys = source.Yes
	case "no":
		o.InternalKeys = source.No
	default:
		err = fmt.Errorf("--internal-keys is %q, want auto, yes or no", f.internalKeys)
	}
	return o, err
}

// with opens a source for do, and says on stderr what of it is not seen.
func (f *sourceFlags) with(path string, stderr io.Writer, do func(*source.Source) error) (err error) {
	o, err := f.options()
	if err != nil {
		return err
	}
	s, err := source.OpenSource(path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, note := range s.Notes {
		text.Line(stderr, "sst: note: %s", note)
	}
	for _, file := range s.Files {
		if file.Opaque {
			text.Line(stderr, "sst: note: the filter of %s denies the table's own keys, and is not used", file.Path)
		}
	}
	return do(s)
}

// withFile opens one table for do.
func (f *sourceFlags) withFile(path string, stderr io.Writer, do func(*source.File) error) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s: a directory, want one of its tables", path)
	}
	return f.with(path, stderr, func(s *source.Source) error { return do(s.Files[0]) })
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
