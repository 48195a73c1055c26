package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
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

const diffLong = `Print entries that only A has with a minus sign, and entries that only B has with a plus sign. A key
with two values is printed with both. Two tables of a database are compared with all versions, other
sources by their newest values. Keys lost to damage are left out and named on standard error.
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
	cmd.MarkFlagsMutuallyExclusive("summary", "format")
	f.addDir(cmd)
	f.addStrict(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.ScanOnly = true
		return f.with(args[0], cmd.ErrOrStderr(), func(a *source.Source) error {
			return f.with(args[1], cmd.ErrOrStderr(), func(b *source.Source) error {
				return f.diff(cmd.OutOrStdout(), a, b)
			})
		})
	}
	return cmd
}

// diff compares two sources.
func (f *diffFlags) diff(out io.Writer, a, b *source.Source) error {
	if err := a.SameOrder(b); err != nil {
		return err
	}
	versions := a.Internal && b.Internal && a.IsTable() && b.IsTable()
	p := newPrinter(out, f.format, fields{none: f.summary, versions: versions, values: true})
	c := comparison{versions: versions}
	for i, s := range []*source.Source{a, b} {
		next, stop := iter.Pull2(s.Scan(source.ScanOptions{Versions: versions}))
		defer stop()
		c.sides[i] = side{s, sourceCursor{next: next}, "-+"[i : i+1], s.NewLossCursor(), 0}
		c.sides[i].move()
	}
	if err := c.run(func(s *side) error {
		if !f.summary {
			io.WriteString(out, s.sign) // out remembers its error
		}
		return p.print(s.entry)
	}); err != nil {
		return err
	}
	if f.summary {
		unknown := ""
		if c.unknown > 0 {
			unknown = fmt.Sprintf(", %d not compared", c.unknown)
		}
		text.Line(out, "%d only in %s, %d only in %s, %d with different values, %d equal%s", c.sides[0].only, a.Path, c.sides[1].only, b.Path, c.changed, c.same, unknown)
	}
	return cmp.Or(c.losses(), cli.Negative(c.sides[0].only+c.sides[1].only+c.changed > 0))
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
	sides         [2]side
	versions      bool // all versions are compared
	changed, same uint64
	unknown       uint64 // entries whose key one of the sources has lost
	last          []byte // the last key; nil: none
}

// run calls show for entries that differ, those of the first side first.
func (c *comparison) run(show func(*side) error) error {
	for a, b := &c.sides[0], &c.sides[1]; a.more || b.more; {
		err := errors.Join(a.err, b.err)
		if err != nil && c.last != nil {
			err = errors.Join(err, fmt.Errorf("the comparison stopped at key %s: later keys were not compared", format.Quote(c.last)))
		}
		if err != nil {
			return err
		}
		have := c.smallest()
		differ := c.count(have)
		for i := range have {
			if differ {
				if err := show(&have[i]); err != nil {
					return err
				}
			}
			have[i].move()
		}
	}
	return nil
}

// losses returns an error if some keys were not compared, or may be on one side only because the other lost them.
func (c *comparison) losses() error {
	var all []error
	for i, s := range c.sides {
		all = append(all, namedLosses(s.Source, s.Losses(source.KeyRange{}), "keys in these ranges were not compared"))
		if other := c.sides[1-i]; s.MayHideKeys() && other.only > 0 {
			all = append(all, fmt.Errorf("%s may have lost entries that are only in %s", s.Path, other.Path))
		}
	}
	return errors.Join(all...)
}

// smallest returns the sides that have the smallest entry: one or both.
func (c *comparison) smallest() []side {
	a, b := &c.sides[0], &c.sides[1]
	order := 0
	switch {
	case !b.more:
		order = -1
	case !a.more:
		order = 1
	case c.versions:
		order = a.entry.Compare(b.entry, a.Order)
	default:
		order = a.Order.Compare(a.entry.Key, b.entry.Key)
	}
	switch {
	case order < 0:
		return c.sides[:1]
	case order > 0:
		return c.sides[1:]
	}
	return c.sides[:]
}

// count counts the entry that one or both sides have, and reports whether it differs. If one of the sources has lost
// the key, its entry is unknown, and count returns false.
func (c *comparison) count(have []side) (differs bool) {
	c.last = format.AppendNotNil(c.last[:0], have[0].entry.Key)
	lostA, lostB := c.sides[0].lost.IsLost(c.last), c.sides[1].lost.IsLost(c.last)
	switch {
	case lostA || lostB:
		c.unknown++
		return false
	case len(have) == 1:
		have[0].only++
	case bytes.Equal(have[0].entry.Value, have[1].entry.Value):
		c.same++
		return false
	default:
		c.changed++
	}
	return true
}
