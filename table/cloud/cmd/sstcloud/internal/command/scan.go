package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// scanFlags are the flags of scan.
type scanFlags struct {
	setFlags
	from, to, prefix bytesFlag
	reverse, keys    bool
	limit            int
	format           string
}

const scanLong = `Print the entries of a set in the order of their keys. Each line has a key, a tab and a value, or the
format that --format gives. Of layers, the newest value of each key is printed that no layer after it
removes.

--from is the first of the range, also with --reverse. If --from is after --to, the exit status is 2.

Data blocks are read by requests of 4 MiB, with --reverse block by block. A table that is missing,
damaged, or another one than the manifest says ends the output: a message has the last key that was
printed, and the exit status is 3. A set of tables that were built with --filter-only has no entries,
so that scan fails.`

func scanCommand() *cobra.Command {
	var f scanFlags
	cmd := &cobra.Command{
		Use:   "scan [flags] URL",
		Short: "Print the entries in key order",
		Long:  scanLong,
		Example: `  sstcloud scan --limit 10 's3://urls?region=eu-central-1'
  sstcloud scan --prefix https://example.com/ gs://lists
  sstcloud scan --from b --to d --reverse --format json file:///srv/set`,
		Annotations: exitStatus{
			exitOK:      "all entries were printed",
			exitDamaged: "entries are missing from the output, because of damage or of what is missing",
		}.annotation(),
		Args: arguments("URL", 1, 1),
	}
	f.add(cmd)
	cmd.Flags().Var(&f.from, "from", "print keys ≥ this one")
	cmd.Flags().Var(&f.to, "to", "print keys < this one")
	cmd.Flags().Var(&f.prefix, "prefix", "print keys that start with this")
	cmd.Flags().BoolVarP(&f.reverse, "reverse", "r", false, "print from the last key to the first")
	cmd.Flags().IntVarP(&f.limit, "limit", "n", 0, "print at most this many entries; 0: all")
	cmd.Flags().BoolVarP(&f.keys, "keys", "k", false, "print keys without values")
	cmd.Flags().StringVarP(&f.format, "format", "f", "tsv", "output format: tsv (with escapes such as \\t and \\xff), json (one object per line) or hex")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		print, err := newPrinter(cmd.OutOrStdout(), f.format, !f.keys)
		if err == nil {
			err = f.check()
		}
		if err != nil {
			return err
		}
		return f.withSet(cmd.Context(), args[0], func(s *set.Set) error {
			return f.run(cmd.Context(), s, cmd.ErrOrStderr(), print)
		})
	}
	return cmd
}

func (f *scanFlags) check() error {
	switch {
	case f.limit < 0:
		return usageErrorf("--limit is %d, want 0 or more", f.limit)
	case f.from != nil && f.to != nil && bytes.Compare(f.from, f.to) > 0:
		return usageErrorf("--from %s is after --to %s in the order of the keys, so the range is empty: swap them, also with --reverse", wire.Quote(f.from), wire.Quote(f.to))
	}
	return nil
}

// readAhead is how many bytes are read at once.
const readAhead = 4 << 20

// bounds returns the range that all flags give. --prefix narrows --from and --to.
func (f *scanFlags) bounds() *table.IterOptions {
	o := &table.IterOptions{Lower: f.from, Upper: f.to, Prefix: f.prefix, ReadAhead: readAhead}
	lower, upper := table.PrefixBounds(f.prefix)
	if bytes.Compare(lower, o.Lower) > 0 {
		o.Lower = lower
	}
	if upper != nil && (o.Upper == nil || bytes.Compare(upper, o.Upper) < 0) {
		o.Upper = upper
	}
	return o
}

func (f *scanFlags) run(ctx context.Context, s *set.Set, stderr io.Writer, print printer) error {
	o := f.bounds()
	if o.Upper != nil && bytes.Compare(o.Lower, o.Upper) >= 0 {
		text.Line(stderr, "sstcloud: note: the range is empty, because --from, --to and --prefix exclude each other: keys are ≥ --from and < --to")
		return nil
	}
	it := s.NewIter(ctx, o)
	n, last := 0, []byte(nil)
	for e := range f.entries(it) {
		if err := print(e.Key, e.Value); err != nil {
			return errors.Join(err, it.Close())
		}
		last = append(last[:0], e.Key...)
		if n++; n == f.limit {
			break
		}
	}
	err := ofTable(it.Close())
	if err != nil && n > 0 {
		err = errors.Join(err, fmt.Errorf("the output ends with key %s: what follows is missing from it", wire.Quote(last)))
	}
	return err
}

// entries yields the entries in the direction of --reverse, until a move fails.
func (f *scanFlags) entries(it *set.Iter) iter.Seq[table.Entry] {
	first, next := it.First, it.Next
	if f.reverse {
		first, next = it.Last, it.Prev
	}
	return func(yield func(table.Entry) bool) {
		for ok := first(); ok && yield(table.Entry{Key: it.Key(), Value: it.Value()}); ok = next() {
		}
	}
}
