package command

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// getFlags are the flags of get.
type getFlags struct {
	sourceFlags
	cli.KeyFlags
	format  string
	explain bool
}

const getLong = `Print the value of a key. For several keys, or with --keys-from, print keys and values; absent keys
print nothing. If damage may hide the newest version of a key, sst says so and exits with status 3:
the value it prints may be an older one. With --strict it prints none then.

--explain prints the steps of each lookup: the tables searched, their filters' answers with hash
and probed bits, the index entry, the block filter's number (its block's offset >> log2 of the
filter's range, usually 11), the data blocks read, the time, and whether a filter was wrong. Times
are without a block cache. A table of filters alone answers "may be present" or "absent".
See sst help sources, formats and filters.`

func getCommand() *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"find", "lookup", "query"},
		Use:        "get [flags] SOURCE KEY...",
		Short:      "Print the value of a key in a table, a database or a set",
		Long:       getLong,
		Example: `  sst get users.ldb ada
  sst get --explain /var/lib/app/db -- -key-that-starts-with-a-dash
  cut -f 1 users.tsv | sst get --keys-from - users.ldb`,
		ValidArgsFunction: cli.Files(1, sourceNames...),
		Annotations: cli.ExitStatus{
			cli.ExitOK:       "all keys were found",
			cli.ExitNegative: "a key is absent",
			cli.ExitDamaged:  "the newest version of a key may be hidden: a table, a log or a manifest is damaged or missing",
		}.Annotation(),
		Args: func(cmd *cobra.Command, args []string) error {
			if f.From != "" {
				return cli.Arguments("SOURCE", 1, cli.Unlimited, 1)(cmd, args)
			}
			return cli.Arguments("SOURCE and KEY", 2, cli.Unlimited, 1)(cmd, args)
		},
	}
	cmd.Flags().StringVarP(&f.format, "format", "f", "tsv", "output format: tsv, json, hex or raw")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "print the steps of each lookup")
	cmd.MarkFlagsMutuallyExclusive("explain", "format")
	cli.Complete(cmd, "format", "tsv", "json", "hex", "raw")
	f.KeyFlags.Add(cmd, "look up")
	f.addDir(cmd)
	f.addStrict(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.run(cmd, args[0], args[1:])
	}
	return cmd
}

// run looks up the keys of the arguments, and those of --keys-from.
func (f *getFlags) run(cmd *cobra.Command, path string, args []string) error {
	first, err := f.DecodeAll(args)
	if err != nil {
		return err
	}
	print, err := f.printer(cmd.OutOrStdout(), len(first) > 1 || f.From != "")
	if err != nil {
		return err
	}
	if len(first) == 1 && f.From == "" && f.format != "json" {
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
			if answer, err = f.askFilter(cmd.OutOrStdout(), len(first) > 1 || f.From != ""); err != nil {
				return err
			}
		}
		var l lookups
		for keys, err := range f.Batches(first, cmd.InOrStdin(), output.FilesOf(cmd.OutOrStdout(), "")) {
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
		return cmp.Or(l.failure(), cli.Negative(l.absent > 0))
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
			text.Note(cmd.ErrOrStderr(), "the key is present, and its value is empty")
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
