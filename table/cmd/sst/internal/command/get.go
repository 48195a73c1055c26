package command

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
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
print nothing. If damage may hide the newest version of a key, sst says so, prints an older one if
there is one (with --strict none), and exits with status 3. A table of filters alone answers "may
be present" or "absent".

--explain prints the steps of each lookup: the tables searched, their filters' answers with hash
and probed bits, the index entry, the block filter's number (its block's offset >> log2 of the
filter's range, usually 11), the data blocks read, whether a filter was wrong, and the time without
a block cache.
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
	answer, err := f.answerer(cmd, len(first) > 1 || f.From != "")
	if err != nil {
		return err
	}
	f.lookups = true
	return f.with(path, cmd.ErrOrStderr(), func(s *source.Source) error {
		if f.format == "raw" && s.FilterOnly() {
			return cli.UsageErrorf("--format is raw, want tsv, hex or json: the table has a filter only, and no values")
		}
		var l lookups
		for keys, err := range f.Batches(first, cmd.InOrStdin(), output.FilesOf(cmd.OutOrStdout(), "")) {
			if err == nil {
				err = l.run(s, keys, answer)
			}
			if err != nil {
				return errors.Join(err, l.failure())
			}
		}
		if !f.explain && l.keys > 1 && l.absent > 0 {
			are := map[bool]string{true: "is", false: "are"}[l.absent == 1]
			text.Note(cmd.ErrOrStderr(), "%d of %d keys %s absent", l.absent, l.keys, are)
		}
		return cmp.Or(l.failure(), cli.Negative(l.absent > 0))
	})
}

// An answerer looks up a key, and prints what it finds, also if damage may hide a newer version.
type answerer func(s *source.Source, key []byte) (found bool, err error)

// answerer returns the answerer for one key or several.
func (f *getFlags) answerer(cmd *cobra.Command, several bool) (answerer, error) {
	out := cmd.OutOrStdout()
	if f.explain {
		return func(s *source.Source, key []byte) (bool, error) { return explain(out, s, key) }, nil
	}
	print := func(e source.Entry) error {
		_, err := out.Write(e.Value)
		return err
	}
	if f.format != "raw" {
		p, err := newPrinter(out, f.format, fields{values: true, onlyValue: !several && f.format != "json"})
		if err != nil {
			return nil, unknownFormat(f.format, "tsv, json, hex or raw")
		}
		print = p.print
	}
	// An empty value looks like no answer on a terminal. Elsewhere the exit status tells.
	stdout, ok := out.(cli.Stdout)
	notesEmpty := ok && !several && f.format != "json" && stdout.IsTerminal()
	return func(s *source.Source, key []byte) (bool, error) {
		if s.FilterOnly() {
			return f.askFilter(out, s, key, several)
		}
		e, found, hidden := s.Get(key)
		if !found {
			return false, hidden
		}
		if notesEmpty && len(e.Value) == 0 {
			text.Note(cmd.ErrOrStderr(), "the key is present, and its value is empty")
		}
		return true, cmp.Or(print(e), hidden)
	}, nil
}

// askFilter prints the answer of a table with a filter only: with several keys and in JSON the key too.
func (f *getFlags) askFilter(out io.Writer, s *source.Source, key []byte, several bool) (bool, error) {
	may, err := s.MayContain(key)
	if err != nil {
		return false, err
	}
	var line []byte
	answer := map[bool]string{true: "may be present", false: "absent"}[may]
	switch {
	case f.format == "json":
		line, answer = printable.AppendJSONBytes([]byte("{"), "key", key), fmt.Sprintf(",\"may_contain\":%v}", may)
	case several && f.format == "hex":
		line = append(hex.AppendEncode(nil, key), '\t')
	case several:
		line = append(printable.AppendEscape(nil, key), '\t')
	}
	_, err = out.Write(append(append(line, answer...), '\n'))
	return may, err
}

// maxUnreadKeys is how many keys that cannot be read are named. As many more are named if each has another
// cause than those before.
const maxUnreadKeys = 100

// lookups are the outcomes of several lookups.
type lookups struct {
	keys, absent, unread uint64
	damage               []error  // why keys cannot be read, for those that are named
	causes               []string // their messages
}

// run looks up keys. Damage, or a table with a filter only, ends only the lookup of its key.
func (l *lookups) run(s *source.Source, keys [][]byte, answer answerer) error {
	if err := s.PrefetchLogs(keys...); err != nil {
		return err
	}
	for _, key := range keys {
		l.keys++
		found, err := answer(s, key)
		switch {
		case errors.Is(err, table.ErrCorrupt) || errors.Is(err, table.ErrFilterOnly):
			l.addDamage(key, err)
		case err != nil:
			return err
		case !found:
			l.absent++
		}
	}
	return nil
}

func (l *lookups) addDamage(key []byte, err error) {
	l.unread++
	cause := err.Error()
	if n := len(l.damage); n < maxUnreadKeys || n < 2*maxUnreadKeys && !slices.Contains(l.causes, cause) {
		l.causes, l.damage = append(l.causes, cause), append(l.damage, fmt.Errorf("key %s: %w", wire.Quote(key), err))
	}
}

// failure returns the damage. With several keys, it names those that cannot be read.
func (l *lookups) failure() error {
	if l.keys == 1 && l.unread == 1 {
		return errors.Unwrap(l.damage[0])
	}
	all := l.damage
	if more := l.unread - uint64(len(l.damage)); more > 0 {
		all = append(all, fmt.Errorf("%s cannot be read either", text.Count(more, "other key")))
	}
	return errors.Join(all...)
}
