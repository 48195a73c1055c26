package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
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
print nothing. If damage may hide the newest version of a key, sst says so, exits with status 3
and, without --strict, prints an older version if there is one. For filters alone, it prints a line
for each key: "may be present" or "absent".

--explain prints the steps of each lookup: the tables searched, what their filters answer and which
bits of them are checked, the data blocks read, and the time without a block cache.
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
  sst get --keys-from names.txt users.ldb`,
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
	cmd.Flags().VarP(cli.Choice(&f.format, "tsv", "tsv", "json", "hex", "raw"), "format", "f", "output format: tsv, json, hex or raw")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "print the steps of each lookup")
	cmd.MarkFlagsMutuallyExclusive("explain", "format")
	f.KeyFlags.Add(cmd, "look up", "")
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
	l := lookups{getFlags: f, out: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(), several: len(first) > 1 || f.From != ""}
	if f.format != "raw" {
		l.printer = newPrinter(l.out, f.format, fields{values: true, onlyValue: !l.several && f.format != "json"})
	}
	f.Lookups, f.KeepBlocks = true, !f.explain
	return f.with(path, l.stderr, func(s *source.Source) error {
		if f.format == "raw" && s.FilterOnly() {
			return cli.UsageErrorf("--format is raw, but a filter has no values: use tsv, json or hex")
		}
		for keys, err := range f.Batches(first, cmd, output.FilesOf(l.out)) {
			if err == nil {
				err = l.run(s, keys)
			}
			if err != nil {
				return errors.Join(err, l.failure())
			}
		}
		l.noteAbsent(s.MayHideKeys())
		return cmp.Or(l.failure(), cli.Negative(l.absent > 0))
	})
}

// lookups looks up keys, and collects the results.
type lookups struct {
	*getFlags
	out, stderr io.Writer
	printer     *printer // nil: values are printed as they are
	several     bool     // there can be more than one key

	keys, absent, unread uint64
	damage               []error  // why keys cannot be read, for the keys that are named
	causes               []string // their messages
}

// noteAbsent notes how many keys are absent, or may be hidden.
func (l *lookups) noteAbsent(hidden bool) {
	switch {
	case l.explain || l.absent == 0 || l.keys == 1 && !hidden:
	case l.keys == 1:
		text.Note(l.stderr, "the key was not found, but may exist")
	case hidden:
		text.Note(l.stderr, "%d of %d keys %s not found, but may exist", l.absent, l.keys, map[bool]string{true: "was", false: "were"}[l.absent == 1])
	default:
		text.Note(l.stderr, "%d of %d keys %s absent", l.absent, l.keys, map[bool]string{true: "is", false: "are"}[l.absent == 1])
	}
}

// prefetchedKeys is the number of keys that are prefetched together from a remote set.
const prefetchedKeys = 1000

// run looks up keys. Damage, or a table with only a filter, fails only the lookup of its key.
func (l *lookups) run(s *source.Source, keys [][]byte) error {
	if err := s.PrefetchLogs(keys...); err != nil {
		return err
	}
	lookUp := l.lookUp
	if l.explain {
		lookUp = func(s *source.Source, key []byte) (bool, error) { return explain(l.out, s, key) }
	} else if s.FilterOnly() {
		lookUp = l.checkFilter
	}
	for i, key := range keys {
		if i%prefetchedKeys == 0 {
			s.Prefetch(keys[i:min(i+prefetchedKeys, len(keys))])
		}
		l.keys++
		found, err := lookUp(s, key)
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

// lookUp prints the value of a key, also if damage may hide a newer version.
func (l *lookups) lookUp(s *source.Source, key []byte) (found bool, err error) {
	e, found, hidden := s.Get(key)
	if !found {
		return false, hidden
	}
	// An empty value looks like no answer on a terminal. Elsewhere the exit status tells.
	if stdout, ok := l.out.(cli.Stdout); ok && !l.several && l.format != "json" && len(e.Value) == 0 && stdout.IsTerminal() {
		text.Note(l.stderr, "the key is present, with an empty value")
	}
	if l.printer == nil {
		_, err = l.out.Write(e.Value)
	} else {
		err = l.printer.print(e)
	}
	return true, cmp.Or(err, hidden)
}

// checkFilter prints the answer of a table with only a filter. With several keys, and in JSON, it prints the key too.
func (l *lookups) checkFilter(s *source.Source, key []byte) (may bool, err error) {
	if may, err = s.MayContain(key); err != nil {
		return false, err
	}
	p := l.printer
	if !p.onlyValue {
		p.bytes("key", key)
	}
	if p.encode == nil {
		p.begin("may_contain")
		p.line = strconv.AppendBool(p.line, may)
	} else {
		p.word("", map[bool]string{true: "may be present", false: "absent"}[may])
	}
	return may, p.end()
}

// maxUnreadKeys is the number of unreadable keys that are named. Further ones are named only if their cause is new,
// up to maxUnreadCauses in all.
const (
	maxUnreadKeys   = 10
	maxUnreadCauses = 100
)

func (l *lookups) addDamage(key []byte, err error) {
	l.unread++
	cause := err.Error()
	if n := len(l.damage); n < maxUnreadKeys || n < maxUnreadCauses && !slices.Contains(l.causes, cause) {
		l.causes, l.damage = append(l.causes, cause), append(l.damage, fmt.Errorf("key %s: %w", format.Quote(key), err))
	}
}

// failure returns the damage. With several keys, it names the unreadable ones.
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
