package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// scanFlags are the flags of scan.
type scanFlags struct {
	sourceFlags
	from, to, prefix  []byte
	reverse, versions bool
	where, count      bool
	keys              bool
	limit             int
	format            string
}

const scanLong = `Print the entries of a table, a log, a database or a set in key order: key, tab, value. For a
database, print the newest value of each key, or all with --versions. For a database's table or a
log, print all versions with sequence number and kind, or the newest with --versions=false. Without
--where or --reverse, a log's versions are in write order. Print other files in LevelDB's log
format, like Firestore exports, one record per line.

If filters were built with --filter-prefix, scans of one prefix skip blocks without it.
See sst help sources and formats.`

func scanCommand() *cobra.Command {
	var f scanFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"dump", "list", "ls", "keys", "export", "show", "view", "print", "head"},
		Use:        "scan [flags] SOURCE",
		Short:      "Print the entries of a table, a database or a set in key order",
		Long:       scanLong,
		Example: `  sst scan --prefix user: --format json users.ldb
  sst scan --from b --to d --reverse --limit 10 /var/lib/app/db
  set -o pipefail; sst scan 000005.ldb | sst build --internal-keys=yes -o copy.ldb`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "all entries were printed",
			cli.ExitDamaged: "entries may be lost or old: a table, a log or a manifest is damaged or missing",
		}.Annotation(),
		Args:              cli.Arguments("SOURCE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, sourceNames...),
	}
	cmd.Flags().Var(cli.Key(&f.from), "from", "print keys ≥ this one")
	cmd.Flags().Var(cli.Key(&f.to), "to", "print keys < this one")
	cmd.Flags().Var(cli.Key(&f.prefix), "prefix", "print keys that begin with this")
	cmd.Flags().BoolVarP(&f.reverse, "reverse", "r", false, "print from the last key to the first")
	cli.CountVar(cmd.Flags(), &f.limit, "limit", "n", 0, "print at most this many entries; 0: all")
	cmd.Flags().BoolVar(&f.versions, "versions", false, "print all versions of each key, with deletions")
	cmd.Flags().BoolVar(&f.where, "where", false, "print all versions, with file, level, offset and state")
	cmd.Flags().BoolVarP(&f.keys, "keys", "k", false, "print keys without values")
	cmd.Flags().BoolVar(&f.count, "count", false, "print only how many entries there are")
	addFormat(cmd, &f.format)
	f.addDir(cmd)
	f.addStrict(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.limit < 0 {
			return cli.UsageErrorf("--limit is %d, not 0 or more", f.limit)
		}
		if f.where && (f.reverse || cmd.Flags().Changed("versions") && !f.versions) {
			return cli.UsageErrorf("--where prints all versions, newest first: leave out --reverse and --versions=false")
		}
		f.ScanOnly, f.AsksPrefix = true, f.prefix != nil || f.from != nil && f.to != nil
		if kind, err := dbfile.FileKindOf(args[0], dbfile.Options{}); err == nil && kind == dbfile.RecordFile {
			return f.scanRecords(cmd, args[0])
		}
		return f.with(args[0], cmd.ErrOrStderr(), func(s *source.Source) error {
			if !cmd.Flags().Changed("versions") {
				f.versions = !s.Dir || f.where || s.Order == table.AnyOrder
			}
			if f.versions && !f.where && s.HasLayers() {
				return cli.UsageErrorf("%s has layers, whose deletions look like pairs with --versions: use --where", s.Path)
			}
			return f.scan(cmd, s)
		})
	}
	return cmd
}

// scan prints the entries of a source, and then what it has lost.
func (f *scanFlags) scan(cmd *cobra.Command, s *source.Source) error {
	if err := f.checkRange(s.Order, cmd.ErrOrStderr()); err != nil {
		return err
	}
	p := newPrinter(cmd.OutOrStdout(), f.format, fields{none: f.count, versions: f.versions && s.Internal, values: !f.keys, location: f.where, same: s.SameKey})
	p.unordered = s.Order == table.AnyOrder && !s.IsTable()
	o := f.scanOptions(s.Order)
	stopped, err := f.printEntries(p, s.Scan(o))
	scanned := source.KeyRange{From: o.From, To: o.To, BeforeTo: true}
	switch {
	case stopped != nil && f.reverse:
		scanned.From = stopped
	case stopped != nil:
		scanned.To, scanned.BeforeTo = stopped, false
	}
	meaning := "entries of these keys are missing from the output"
	if s.HasVersions() {
		meaning = "the output may contain older or deleted versions of these keys"
	}
	return errors.Join(namedLosses(s, s.Losses(scanned), meaning), err)
}

// checkRange rejects swapped bounds. If the range is empty for another reason, it prints a note.
func (f *scanFlags) checkRange(order table.Comparer, stderr io.Writer) error {
	if order == table.AnyOrder {
		return nil
	}
	from, to, prefix := format.Quote(f.from), format.Quote(f.to), format.Quote(f.prefix)
	end := format.PrefixEnd(f.prefix)
	compared := -1
	if f.from != nil && f.to != nil {
		compared = order.Compare(f.from, f.to)
	}
	why := ""
	switch {
	case compared > 0:
		return cli.UsageErrorf("--from %s is after --to %s in key order: swap them, also with --reverse", from, to)
	case compared == 0:
		why = fmt.Sprintf("--from and --to are both %s, and --to is exclusive: for one key, use sst get", to)
	case order != table.BytewiseComparer:
		return nil
	case f.to != nil && len(f.to) == 0:
		why = `no key is < --to "": leave it out`
	case f.to != nil && bytes.Compare(f.to, f.prefix) <= 0:
		why = fmt.Sprintf("all keys with --prefix %s are ≥ --to %s: leave out one of them", prefix, to)
	case end != nil && bytes.Compare(f.from, end) >= 0:
		why = fmt.Sprintf("all keys with --prefix %s are < --from %s: leave out one of them", prefix, from)
	default:
		return nil
	}
	text.Note(stderr, "the range is empty: %s", why)
	return nil
}

// printEntries prints entries, or their number. If damage or --limit stops it, it returns the last key.
func (f *scanFlags) printEntries(p *printer, entries iter.Seq2[source.Entry, error]) (stopped []byte, err error) {
	last := []byte{}
	for e, err := range entries {
		switch {
		case err != nil && p.n > 0 && !p.onlyValue:
			return last, errors.Join(err, fmt.Errorf("the output stops at key %s: later keys are missing", format.Quote(last)))
		case err != nil:
			return last, err
		case !bytes.HasPrefix(e.Key, f.prefix):
			continue
		}
		if err := p.print(e); err != nil {
			return last, err
		}
		last = append(last[:0], e.Key...)
		if p.n == f.limit {
			stopped = last
			break
		}
	}
	if f.count {
		text.Line(p.w, "%d", p.n)
	}
	return stopped, nil
}

// scanOptions returns the options for Scan. In bytewise order, --prefix narrows --from and --to.
func (f *scanFlags) scanOptions(order table.Comparer) source.ScanOptions {
	o := source.ScanOptions{From: f.from, To: f.to, Prefix: f.prefix, Reverse: f.reverse, Versions: f.versions, InOrder: f.where}
	if order == table.BytewiseComparer {
		o.From, o.To = format.WithinPrefix(o.From, o.To, f.prefix)
	}
	return o
}

// scanRecords prints the records of a file whose records are not batches, one per line.
func (f *scanFlags) scanRecords(cmd *cobra.Command, path string) error {
	for _, name := range []string{"from", "to", "prefix", "reverse", "versions", "where", "keys"} {
		if cmd.Flags().Changed(name) {
			return cli.UsageErrorf("--%s does not apply to %s, %s: its records have no keys", name, path, dbfile.RecordFile)
		}
	}
	p := newPrinter(cmd.OutOrStdout(), f.format, fields{none: f.count, onlyValue: true})
	r := dbfile.Records{Path: path}
	_, err := f.printEntries(p, func(yield func(source.Entry, error) bool) {
		for record, err := range r.All(f.options().Options, math.MaxInt) {
			if !yield(source.Entry{Entry: dbfile.Entry{Value: record.Bytes}}, err) {
				return
			}
		}
	})
	if err == nil && r.Note != "" {
		text.Note(cmd.ErrOrStderr(), "%s: %s", path, r.Note)
	}
	return err
}
