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
sources by their newest values. Keys that A or B has lost to damage are left out and named on
standard error.
See sst help sources.`

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
	c := comparison{versions: versions, a: side{Source: a, sign: "-"}, b: side{Source: b, sign: "+"}}
	err = c.run(func(s *side) error {
		if f.summary {
			return nil
		}
		if _, err := io.WriteString(out, s.sign); err != nil {
			return err
		}
		return p.print(s.entry)
	})
	if err != nil {
		return err
	}
	if f.summary {
		c.print(out)
	}
	var lost []error
	for _, s := range []*source.Source{a, b} {
		lost = append(lost, namedLosses(s, s.Losses(source.KeyRange{}), "these keys were not compared"))
	}
	return cmp.Or(errors.Join(lost...), cli.Negative(c.a.only+c.b.only+c.changed > 0))
}

// A sourceCursor iterates over the entries of a source.
type sourceCursor struct {
	next  func() (source.Entry, error, bool)
	entry source.Entry
	err   error
	more  bool
}

func (s *sourceCursor) move() { s.entry, s.err, s.more = s.next() }

// A side is one of the two sources.
type side struct {
	*source.Source
	sourceCursor
	sign string
	lost *source.LossCursor
	only uint64 // entries that the other side does not have
}

// A comparison merges the entries of both sources, and counts them.
type comparison struct {
	a, b          side
	versions      bool // all versions are compared
	changed, same uint64
	unknown       uint64 // of keys that one of the sources has lost
	last          []byte // the last key; nil: none
}

// run calls show for entries that differ, those of a first.
func (c *comparison) run(show func(*side) error) error {
	for _, s := range []*side{&c.a, &c.b} {
		next, stop := iter.Pull2(s.Scan(source.ScanOptions{Versions: c.versions}))
		defer stop()
		s.next, s.lost = next, s.NewLossCursor()
		s.move()
	}
	for c.a.more || c.b.more {
		if err := errors.Join(c.a.err, c.b.err); err != nil {
			if c.last != nil {
				err = errors.Join(err, fmt.Errorf("the comparison ended with key %s: what follows was not compared", wire.Quote(c.last)))
			}
			return err
		}
		order := c.order()
		have := []*side{&c.a, &c.b}
		if order < 0 {
			have = have[:1]
		} else if order > 0 {
			have = have[1:]
		}
		differ := c.count(have)
		for _, s := range have {
			if differ {
				if err := show(s); err != nil {
					return err
				}
			}
			s.move()
		}
	}
	return nil
}

// order returns < 0 if the entry of a comes before that of b or b has no more entries, and so on.
func (c *comparison) order() int {
	switch {
	case !c.b.more:
		return -1
	case !c.a.more:
		return 1
	case c.versions:
		return c.a.entry.Compare(c.b.entry, c.a.Order)
	}
	return c.a.Order.Compare(c.a.entry.Key, c.b.entry.Key)
}

// count counts the entry that one or both sides have, and reports whether it differs. It does not if one of the
// sources has lost the key: it may have another entry, or none.
func (c *comparison) count(have []*side) (differs bool) {
	c.last = wire.AppendNotNil(c.last[:0], have[0].entry.Key)
	lostA, lostB := c.a.lost.IsLost(c.last), c.b.lost.IsLost(c.last)
	switch {
	case lostA || lostB:
		c.unknown++
		return false
	case len(have) == 1:
		have[0].only++
	case bytes.Equal(c.a.entry.Value, c.b.entry.Value):
		c.same++
		return false
	default:
		c.changed++
	}
	return true
}

// print prints the numbers.
func (c *comparison) print(out io.Writer) {
	unknown := ""
	if c.unknown > 0 {
		unknown = fmt.Sprintf(", %d not compared", c.unknown)
	}
	text.Line(out, "%d only in %s, %d only in %s, %d with different values, %d equal%s", c.a.only, c.a.Path, c.b.only, c.b.Path, c.changed, c.same, unknown)
}
