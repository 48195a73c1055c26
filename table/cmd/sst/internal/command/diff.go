package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	sourceFlags
	format  string
	summary bool
}

const diffLong = `Print entries that only A has with a minus sign, and those that only B has with a plus sign. A key
with two values is printed as both. Two tables of a database are compared with all versions, other
sources by their newest values. Block sizes, compression and filters make no difference. Keys that
A or B has lost to damage are left out and named on standard error. See sst help sources.`

func diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"compare"},
		Use:        "diff [flags] A B",
		Short:      "Print the differences between two tables, databases or sets",
		Long:       diffLong,
		Example: `  sst diff old.ldb new.ldb
  sst diff --summary /var/lib/app/db backup.ldb
  sst diff -f json a.ldb b.ldb`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:       "there are no differences",
			cli.ExitNegative: "there are differences",
			cli.ExitDamaged:  "not all was compared: a table, a log or a manifest is damaged or missing",
		}.Annotation(),
		Args:              cli.Arguments("A and B", 2, 2, 2),
		ValidArgsFunction: cli.Files(2, sourceNames...),
	}
	cmd.Flags().BoolVarP(&f.summary, "summary", "s", false, "print only how many entries differ")
	addFormat(cmd, &f.format)
	f.addDir(cmd)
	f.addStrict(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.scanOnly = true
		return f.with(args[0], cmd.ErrOrStderr(), func(a *source.Source) error {
			return f.with(args[1], cmd.ErrOrStderr(), func(b *source.Source) error {
				return f.diff(cmd.OutOrStdout(), a, b)
			})
		})
	}
	return cmd
}

func (f *diffFlags) diff(out io.Writer, a, b *source.Source) error {
	if err := a.SameOrder(b); err != nil {
		return err
	}
	versions := a.Internal && b.Internal && !a.Dir && !b.Dir
	p, err := newPrinter(out, f.format, fields{versions: versions, values: true})
	if err != nil {
		return err
	}
	c := comparison{last: []byte{}, a: a, b: b, lostA: a.NewLossCursor(), lostB: b.NewLossCursor()}
	for d, err := range differences(a, b, source.ScanOptions{Versions: versions}) {
		if err != nil {
			return c.endedBy(err)
		}
		if !c.count(d) {
			continue
		}
		if err := f.print(out, p, d); err != nil {
			return err
		}
	}
	if f.summary {
		c.print(out)
	}
	var lost []error
	for _, s := range []*source.Source{a, b} {
		lost = append(lost, namedLosses(s, s.Losses(source.KeyRange{}), "these keys were not compared"))
	}
	return cmp.Or(errors.Join(lost...), cli.Negative(c.onlyA+c.onlyB+c.changed > 0))
}

func (f *diffFlags) print(out io.Writer, p *printer, d difference) error {
	if f.summary {
		return nil
	}
	for _, side := range []struct {
		sign  string
		entry *source.Entry
	}{{"-", d.a}, {"+", d.b}} {
		if side.entry == nil {
			continue
		}
		if _, err := io.WriteString(out, side.sign); err != nil {
			return err
		}
		if err := p.print(*side.entry); err != nil {
			return err
		}
	}
	return nil
}

// A difference is an entry of a, of b, or of both with the same key.
type difference struct{ a, b *source.Entry }

// A sourceCursor iterates over one of the two sources.
type sourceCursor struct {
	next  func() (source.Entry, error, bool)
	entry source.Entry
	err   error
	more  bool
}

func (s *sourceCursor) move() { s.entry, s.err, s.more = s.next() }

// differences merges the entries of both sources, including equal ones.
func differences(a, b *source.Source, o source.ScanOptions) iter.Seq2[difference, error] {
	return func(yield func(difference, error) bool) {
		nextA, stopA := iter.Pull2(a.Scan(o))
		defer stopA()
		nextB, stopB := iter.Pull2(b.Scan(o))
		defer stopB()
		x, y := sourceCursor{next: nextA}, sourceCursor{next: nextB}
		x.move()
		y.move()
		for x.more || y.more {
			if err := errors.Join(x.err, y.err); err != nil {
				yield(difference{}, err)
				return
			}
			order := x.order(y, o.Versions, a.Order)
			var d difference
			if order <= 0 {
				d.a = &x.entry
			}
			if order >= 0 {
				d.b = &y.entry
			}
			if !yield(d, nil) {
				return
			}
			if order <= 0 {
				x.move()
			}
			if order >= 0 {
				y.move()
			}
		}
	}
}

// order returns < 0 if the entry of s comes before the entry of o or o has no more entries,
// and so on.
func (s sourceCursor) order(o sourceCursor, versions bool, keys table.Comparer) int {
	switch {
	case !o.more:
		return -1
	case !s.more:
		return 1
	case versions:
		return s.entry.Compare(o.entry, keys)
	}
	return keys.Compare(s.entry.Key, o.entry.Key)
}

// A comparison counts what was compared.
type comparison struct {
	onlyA, onlyB, changed, same uint64
	unknown                     uint64 // of keys that one of the sources has lost
	last                        []byte // the last key
	a, b                        *source.Source
	lostA, lostB                *source.LossCursor
}

// count counts d, and reports whether it is a difference. An entry is none if one of the sources
// has lost the key: it may have another entry, or none.
func (c *comparison) count(d difference) bool {
	c.last = append(c.last[:0], cmp.Or(d.a, d.b).Key...)
	lostA, lostB := c.lostA.IsLost(c.last), c.lostB.IsLost(c.last)
	switch {
	case lostA || lostB:
		c.unknown++
		return false
	case d.a != nil && d.b != nil && bytes.Equal(d.a.Value, d.b.Value):
		c.same++
		return false
	case d.a != nil && d.b != nil:
		c.changed++
	case d.a != nil:
		c.onlyA++
	default:
		c.onlyB++
	}
	return true
}

// print prints the numbers.
func (c *comparison) print(out io.Writer) {
	unknown := ""
	if c.unknown > 0 {
		unknown = fmt.Sprintf(", %d not compared", c.unknown)
	}
	text.Line(out, "%d only in %s, %d only in %s, %d with different values, %d equal%s", c.onlyA, c.a.Path, c.onlyB, c.b.Path, c.changed, c.same, unknown)
}

// endedBy adds to an error where it ended the comparison.
func (c *comparison) endedBy(err error) error {
	if c.onlyA+c.onlyB+c.changed+c.same+c.unknown == 0 {
		return err
	}
	return errors.Join(err, fmt.Errorf("the comparison ended with key %s: what follows was not compared", wire.Quote(c.last)))
}
