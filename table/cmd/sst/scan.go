package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// scanFlags are the options of scan.
type scanFlags struct {
	sourceFlags
	from, to, prefix  bytesFlag
	reverse, versions bool
	where             bool
	keys              bool
	limit             int
	format            string
}

func scanCommand() *cobra.Command {
	var f scanFlags
	cmd := &cobra.Command{
		Use:   "scan SOURCE",
		Short: "Print entries in the order of their keys",
		Long: `Print entries in the order of their keys, key and value on a line with a tab
between them, or as --format says.

` + sourceHelp + `

A single table of a database is shown entry by entry: key, sequence number, kind
(set or delete) and value. A directory is shown as the database would show it:
the newest value of each key that is not deleted. --versions shows all of either,
--versions=false the newest values. A log, as 000003.log, is shown write by write.

--where says of each version where it is: in which file, of which level, at which offset
its data block or, in a log, its batch is; and whether it is live, a deletion that is
the newest, or shadowed by a newer version. With --all-tables, files that the database
is done with are seen too, as far as they are still there.

sst build reads what is printed, and makes a table of the same entries: with its
--internal-keys where sequence number and kind are printed. It does not read what
--where prints.`,
		Example: `  sst scan users.ldb | head
  sst scan --prefix user: --format json users.ldb
  sst scan --from b --to d --reverse --limit 10 /var/lib/app/db
  sst scan 000005.ldb | sst build --internal-keys -o copy.ldb`,
		Args: arguments("SOURCE", 1, 1, 1),
	}
	cmd.Flags().Var(&f.from, "from", "the first key to print, or the next one above it")
	cmd.Flags().Var(&f.to, "to", "the key to stop before")
	cmd.Flags().Var(&f.prefix, "prefix", "what keys start with")
	cmd.Flags().BoolVarP(&f.reverse, "reverse", "r", false, "from the last key to the first")
	cmd.Flags().IntVarP(&f.limit, "limit", "n", 0, "how many entries to print (0: all)")
	cmd.Flags().BoolVar(&f.versions, "versions", false, "all versions of keys, and deletions")
	cmd.Flags().BoolVar(&f.where, "where", false, "all versions, with file, level, offset and state behind the value; see above")
	cmd.Flags().BoolVarP(&f.keys, "keys", "k", false, "print keys without values")
	addFormat(cmd, &f.format)
	f.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.scanOnly = true
		return f.with(args[0], cmd.ErrOrStderr(), func(s *source.Source) error {
			if !cmd.Flags().Changed("versions") {
				f.versions = !s.Dir || f.where || s.Order == table.AnyOrder
			}
			return f.scan(cmd.OutOrStdout(), s)
		})
	}
	return cmd
}

func (f *scanFlags) scan(out io.Writer, s *source.Source) error {
	if f.limit < 0 {
		return fmt.Errorf("--limit is %d, want 0 or more", f.limit)
	}
	if f.where && (f.reverse || !f.versions) {
		return errors.New("--where is about all versions, the newest first: want no --reverse and no --versions=false")
	}
	p, err := newPrinter(out, f.format, fields{versions: f.versions && s.Internal, values: !f.keys, location: f.where, same: s.SameKey})
	if err != nil {
		return err
	}
	n := 0
	for e, err := range s.Scan(f.scanOptions(s.Order)) {
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(e.Key, f.prefix) {
			continue
		}
		if err := p.print(e); err != nil {
			return err
		}
		if n++; n == f.limit {
			break
		}
	}
	return nil
}

// scanOptions narrows --from and --to by a prefix's bounds, which it has in bytewise order.
func (f *scanFlags) scanOptions(order table.Comparer) source.ScanOptions {
	o := source.ScanOptions{From: f.from, To: f.to, Reverse: f.reverse, Versions: f.versions}
	if order != table.BytewiseComparer {
		return o
	}
	if bytes.Compare(f.prefix, o.From) > 0 {
		o.From = f.prefix
	}
	if end := prefixEnd(f.prefix); end != nil && (o.To == nil || bytes.Compare(end, o.To) < 0) {
		o.To = end
	}
	return o
}

// prefixEnd returns the least key above all that have the prefix, or nil if there is
// none: the prefix is of 0xff bytes, or empty.
func prefixEnd(prefix []byte) []byte {
	end := bytes.TrimRight(bytes.Clone(prefix), "\xff")
	if len(end) == 0 {
		return nil
	}
	end[len(end)-1]++
	return end
}
