package command

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/set"
)

// getFlags are the flags of get.
type getFlags struct {
	setFlags
	keyFlags
	format string
}

const getLong = `Print the value of a key. With several keys, or with --keys-from, print each key and its value. For an
absent key nothing is printed, and the exit status is 1. With several keys, the others are looked up
nevertheless, and a note at the end says how many are absent. If the table that may have a key is
missing, damaged, or another one than the manifest says, the key is not called absent, and the exit
status is 3.

A set of tables that were built with --filter-only has no values. For it, get prints "may be present",
or "absent" with exit status 1.

--keys-from reads keys from a file, one per line, with the same escapes as KEY or, with --hex, in
hexadecimal. The file may have any number of lines, of up to 16 MiB. Up to 1,000 keys at a time are
looked up together, by few requests.

To open a table takes one request, a present key one more, and an absent key mostly none. Filters and
indexes take up to 1 GiB of memory: a set that needs more is asked faster with the keys in order.

--format raw prints the bytes of the value and nothing else.`

func getCommand() *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use:   "get [flags] URL KEY...",
		Short: "Print the value of a key",
		Long:  getLong,
		Example: `  sstcloud get 's3://urls?region=eu-central-1' https://example.com/
  sstcloud get --format raw file:///srv/pages index.html > index.html
  sstcloud get gs://lists -- -key-that-starts-with-a-dash
  cut -f 1 users.tsv | sstcloud get --keys-from - gs://lists`,
		Annotations: exitStatus{
			exitOK:       "all keys were found",
			exitNegative: "a key is absent",
			exitDamaged:  "damage, or what is missing, may hide a key",
		}.annotation(),
		Args: func(cmd *cobra.Command, args []string) error {
			if f.from != "" {
				return arguments("URL", 1, unlimited)(cmd, args)
			}
			return arguments("URL and KEY", 2, unlimited)(cmd, args)
		},
	}
	f.setFlags.add(cmd)
	f.keyFlags.add(cmd)
	cmd.Flags().StringVarP(&f.format, "format", "f", "tsv", "output format: tsv (with escapes such as \\t and \\xff), json (one object per line), hex or raw")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1:]) }
	return cmd
}

// run looks up the keys of the arguments, and those of --keys-from.
func (f *getFlags) run(cmd *cobra.Command, url string, args []string) error {
	first, err := f.decodeAll(args)
	if err != nil {
		return err
	}
	several := len(first) > 1 || f.from != ""
	print, err := f.printer(cmd.OutOrStdout(), several)
	if err != nil {
		return err
	}
	return f.withSet(cmd.Context(), url, func(s *set.Set) error {
		l := lookups{set: s, print: print}
		answer := l.get
		if isFilterOnly(s) {
			if l.printAnswer, err = f.answerPrinter(cmd.OutOrStdout(), several); err != nil {
				return err
			}
			answer = l.ask
		}
		for keys, err := range f.batches(first, cmd.InOrStdin()) {
			if err == nil {
				err = answer(cmd.Context(), keys)
			}
			if err != nil {
				return errors.Join(err, l.failure())
			}
		}
		l.noteAbsent(cmd.ErrOrStderr())
		return cmp.Or(l.failure(), l.negative())
	})
}

// isFilterOnly reports whether the tables of a set have filters only. A set is taken for one if its
// first table has the name of one.
func isFilterOnly(s *set.Set) bool {
	for t := range s.Manifest().All() {
		return filepath.Ext(t.Name) == ".filter"
	}
	return false
}

// printer returns a function that prints the value of an entry, or with several keys and in JSON the
// whole entry.
func (f *getFlags) printer(out io.Writer, several bool) (printer, error) {
	if f.format == "raw" {
		return func(_, value []byte) error { return write(out, value) }, nil
	}
	print, err := newPrinter(out, f.format, true)
	if err != nil {
		return nil, unknownFormat(f.format, "tsv, json, hex or raw")
	}
	if several || f.format == "json" {
		return print, nil
	}
	encode := printable.Escape
	if f.format == "hex" {
		encode = hex.EncodeToString
	}
	return func(_, value []byte) error { return write(out, []byte(encode(value)+"\n")) }, nil
}

// A jsonAnswer is the answer of a filter, in JSON.
type jsonAnswer struct {
	Key        *string `json:"key,omitempty"`
	KeyBase64  []byte  `json:"key_base64,omitempty"`
	MayContain bool    `json:"may_contain"`
}

// answerPrinter returns a function that prints the answer of a filter: with several keys and in JSON
// the key too.
func (f *getFlags) answerPrinter(out io.Writer, several bool) (func(key []byte, may bool) error, error) {
	encode := printable.Escape
	switch f.format {
	case "raw":
		return nil, usageErrorf("--format is raw, want tsv, hex or json: the tables have filters only, and no values")
	case "hex":
		encode = hex.EncodeToString
	case "json":
		return func(key []byte, may bool) error {
			a := jsonAnswer{MayContain: may}
			a.Key, a.KeyBase64 = printable.StringOrBytes(key)
			return writeJSONLine(out, a)
		}, nil
	}
	return func(key []byte, may bool) error {
		line := "absent\n"
		if may {
			line = "may be present\n"
		}
		if several {
			line = encode(key) + "\t" + line
		}
		return write(out, []byte(line))
	}, nil
}
