package command

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// getFlags are the flags of get.
type getFlags struct {
	sourceFlags
	keyFlags
	format  string
	explain bool
}

var getLong = `Print the value of a key. With several keys, or with --keys-from, print each key and its
value. For an absent key, sst get prints nothing, and the exit status is 1. With several keys,
it looks up the others nevertheless, and says at the end how many are absent. If damage may hide
the newest version of a key, a message says so, and the exit status is 3: a value that is printed
may then be an older one, or that of a deleted key. Damage in tables costs nothing for other keys,
and neither does that of tables older than the version that was found. If a part of a log is lost,
or a log, the exit status is 3 whatever the key. With --strict, no value is printed if damage may
hide a newer one.

A table that was built with --filter-only has no values. For it, sst get prints "may be
present", or "absent" with exit status 1.

--keys-from reads keys from a file, one per line, with the same escapes as KEY or, with
--hex, in hexadecimal. A backslash begins an escape also if the table was built with --format
raw-keys: write \\, or use --hex. The file may have any number of lines. A line may have up
to 16 MiB. Keys are looked up in batches of up to 100,000 keys and 16 MiB. Each batch reads the
write-ahead logs of a database once.

` + sourceHelp(`A key is looked up in the only table whose range of keys has it: of layers, as sst build
--layer-of adds them, in that of the newest, then in that of the one before, until one has the
key or removes it. If such a table is missing or damaged, or is another one than the manifest says,
the key is not called absent, and the exit status is 3. What is wrong with other tables does not
change the exit status.`,
	`For a single table, sst get reads at most 16 data blocks for that, and at most 1 MiB. In a wrong
order a lookup can miss a key. So if a key is absent, sst also reads the blocks whose filters do not
rule it out, and for further absent keys up to 8 MiB. If the order is unknown, no key can be looked
up.`) + `

--format raw prints the bytes of the value and nothing else.

--explain prints the steps of each lookup instead: the tables that were searched, the
answers of their filters, the index entry, the number of the block filter, the data blocks
that were read, and the time it took. Index entries are counted from 1. The block filters are
numbered from 0: the number is the offset of the data block >> the base-2 logarithm of the
range of a filter, which usually is 11. For each Bloom filter it prints the hash of the key, or of
the user key in a database, and the bits that the filter looked up, by their positions. The
first clear bit says that the key is absent, and ends the lookup in this table. A filter of
a whole table has the bits of a key in one line of 64 bytes. A fuse filter has a fingerprint
of the key, if the numbers at three places give it. A false positive is named: the filter
may contain the key, and the data block does not have it. If the filters hold prefixes too, as
by sst build --filter-prefix, they hold a key that is the prefix of others. Blocks are read from
the file each time, without a block cache. What sst reads before the lookup, to find out the
order of keys, is not counted.

The last line for a table is its answer. For a database or a set, the last line for a key is
the answer of all tables and logs.

In a database, a lookup searches all levels for the newest version of the key, even if that is a
deletion: LevelDB up to 1.20 can leave it below an older one. It ends after the logs if these have
a version that is newer than all tables.`

func getCommand() *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use:   "get [flags] SOURCE KEY...",
		Short: "Print the value of a key in a table, a database or a set",
		Long:  getLong,
		Example: `  sst get users.ldb ada
  sst get users.ldb -- -key-that-starts-with-a-dash
  sst get --format raw src.ldb fmt/print.go > print.go
  sst get --explain /var/lib/app/db ada
  sst get --hex users.ldb 616461
  cut -f 1 users.tsv | sst get --keys-from - users.ldb`,
		ValidArgsFunction: cli.Files(1, sourceNames...),
		Annotations: exitStatus{
			exitOK:       "all keys were found",
			exitNegative: "a key is absent",
			exitDamaged:  "the newest version of a key may be hidden: a table, a log or a manifest is damaged or missing",
		}.annotation(),
		Args: func(cmd *cobra.Command, args []string) error {
			if f.from != "" {
				return cli.Arguments("SOURCE", 1, cli.Unlimited, 1)(cmd, args)
			}
			return cli.Arguments("SOURCE and KEY", 2, cli.Unlimited, 1)(cmd, args)
		},
	}
	cmd.Flags().StringVarP(&f.format, "format", "f", "tsv", "output format: tsv (with escapes such as \\t and \\xff), json (one object per line), hex or raw")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "print the steps of each lookup")
	cli.Complete(cmd, "format", "tsv", "json", "hex", "raw")
	f.keyFlags.add(cmd, "look up")
	f.addDir(cmd)
	f.addStrict(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.explain && cmd.Flags().Changed("format") {
			return cli.UsageErrorf("--explain and --format are both given, want one of them")
		}
		return f.run(cmd, args[0], args[1:])
	}
	return cmd
}

// run looks up the keys of the arguments, and those of --keys-from.
func (f *getFlags) run(cmd *cobra.Command, path string, args []string) error {
	first, err := f.decodeAll(args)
	if err != nil {
		return err
	}
	print, err := f.printer(cmd.OutOrStdout(), len(first) > 1 || f.from != "")
	if err != nil {
		return err
	}
	if len(first) == 1 && f.from == "" && f.format != "json" {
		print = noteEmpty(cmd, print)
	}
	answer := func(s *source.Source, key []byte) (found bool, err error) { return get(s, key, print) }
	if f.explain {
		answer = func(s *source.Source, key []byte) (found bool, err error) {
			return explain(cmd.OutOrStdout(), s, key)
		}
	}
	f.lookups = true
	return f.with(path, cmd.ErrOrStderr(), func(s *source.Source) error {
		if s.FilterOnly() && !f.explain {
			if answer, err = f.askFilter(cmd.OutOrStdout(), len(first) > 1 || f.from != ""); err != nil {
				return err
			}
		}
		var l lookups
		for keys, err := range f.batches(first, cmd.InOrStdin(), output.FilesOf(cmd.OutOrStdout(), "")) {
			if err == nil {
				err = s.PrefetchLogs(keys...)
			}
			if err == nil {
				err = l.run(s, keys, answer)
			}
			if err != nil {
				return errors.Join(err, l.failure())
			}
		}
		if !f.explain {
			l.noteAbsent(cmd.ErrOrStderr())
		}
		return cmp.Or(l.failure(), negative(l.absent > 0))
	})
}

// get prints the entry of a key, if it is found, also if damage may hide a newer one.
func get(s *source.Source, key []byte, print func(source.Entry) error) (found bool, err error) {
	e, found, hidden := s.Get(key)
	if !found {
		return false, hidden
	}
	return true, cmp.Or(print(e), hidden)
}

// noteEmpty returns print with a note about an empty value, which looks like no answer on a terminal.
// Elsewhere the exit status tells.
func noteEmpty(cmd *cobra.Command, print func(source.Entry) error) func(source.Entry) error {
	if out, ok := cmd.OutOrStdout().(cli.Stdout); !ok || !out.IsTerminal() {
		return print
	}
	return func(e source.Entry) error {
		if len(e.Value) == 0 {
			text.Line(cmd.ErrOrStderr(), "sst: note: the key is present, and its value is empty")
		}
		return print(e)
	}
}

// printer returns a function that prints the value of an entry, or with several keys and in
// JSON the whole entry.
func (f *getFlags) printer(out io.Writer, several bool) (func(source.Entry) error, error) {
	if f.format == "raw" {
		return func(e source.Entry) error {
			_, err := out.Write(e.Value)
			return err
		}, nil
	}
	p, err := newPrinter(out, f.format, fields{values: true, onlyValue: !several && f.format != "json"})
	if err != nil {
		return nil, unknownFormat(f.format, "tsv, json, hex or raw")
	}
	return p.print, nil
}

// askFilter returns a function that prints the answer of a table with a filter only: with
// several keys and in JSON the key too.
func (f *getFlags) askFilter(out io.Writer, several bool) (func(s *source.Source, key []byte) (bool, error), error) {
	encode := printable.AppendEscape
	switch f.format {
	case "raw":
		return nil, cli.UsageErrorf("--format is raw, want tsv, hex or json: the table has a filter only, and no values")
	case "hex":
		encode = hex.AppendEncode
	}
	return func(s *source.Source, key []byte) (bool, error) {
		may, err := s.MayContain(key)
		if err != nil {
			return false, err
		}
		line, answer := []byte(nil), "absent\n"
		if may {
			answer = "may be present\n"
		}
		switch {
		case f.format == "json":
			line = printable.AppendJSONBytes([]byte("{"), "key", key)
			answer = fmt.Sprintf(",\"may_contain\":%v}\n", may)
		case several:
			line = append(encode(nil, key), '\t')
		}
		_, err = out.Write(append(line, answer...))
		return may, err
	}, nil
}
