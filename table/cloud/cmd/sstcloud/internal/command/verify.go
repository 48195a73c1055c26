package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/progress"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

const verifyLong = `Check all tables of a set: that the SHA-256 of their bytes, size, number of entries, first and last key
are as the manifest says, the checksum and the form of every block, the order of all keys, that no
filter excludes a key that its table has, and that lookups notice when another table replaces one.

Each table has one line: ok, or one line per damaged part. A table that is missing has a line too.
After damage in one table, the others are still checked. Each table is read once, by large requests.
sstcloud stats compares the sizes alone, without a read.`

func verifyCommand() *cobra.Command {
	var f setFlags
	var quiet bool
	cmd := &cobra.Command{
		Use:   "verify [flags] URL",
		Short: "Check all bytes of the tables",
		Long:  verifyLong,
		Example: `  sstcloud verify 's3://urls?region=eu-central-1'
  sstcloud verify --quiet gs://lists && echo sound`,
		Annotations: exitStatus{
			exitOK:      "all was checked and is sound",
			exitDamaged: "a table or the manifest is damaged, or a table is missing",
		}.annotation(),
		Args: arguments("URL", 1, 1),
	}
	f.add(cmd)
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing for tables that are ok")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.with(cmd.Context(), args[0], func(s *store.Store, m *set.Manifest) error {
			total := int64(0)
			for t := range m.All() {
				total += 2 * t.Size
			}
			bar := progress.Bytes(cmd.ErrOrStderr(), total, "verifying")
			defer bar.Done()
			opened, err := set.Open(cmd.Context(), m, counted{s.Source(), bar}, options())
			if err != nil {
				return err
			}
			out := bar.Over(cmd.OutOrStdout())
			flushed := func() { flush(cmd.OutOrStdout()) }
			return errors.Join(verify(cmd.Context(), out, flushed, opened, quiet), opened.Close())
		})
	}
	return cmd
}

// verify checks a set, prints a line for each table, and then calls flushed. A table that cannot be read
// is an error, and not damage.
func verify(ctx context.Context, out io.Writer, flushed func(), s *set.Set, quiet bool) error {
	damaged, unread := false, error(nil)
	err := s.Verify(ctx, func(t set.Table, err error) {
		defer flushed()
		switch err := ofTable(err); {
		case err == nil && !quiet:
			text.Line(out, "%s: ok", t.Name)
		case errors.Is(err, set.ErrNotIdentified) && !quiet:
			text.Line(out, "%s: ok, but an opening may not notice when another table takes its place", t.Name)
		case err == nil || errors.Is(err, set.ErrNotIdentified):
		case errors.As(err, new(missingError)):
			damaged = true
			text.Line(out, "%s", missing(t.Name))
		case isDamage(err):
			damaged = true
			printFindings(out, t.Name, err)
		default:
			unread = errors.New("a table could not be checked completely")
			printFindings(out, t.Name, err)
		}
	})
	switch {
	case ctx.Err() != nil:
		return err
	case damaged:
		return errors.Join(unread, damageReported{})
	}
	return unread
}

// missing says that the store has no object of a table.
func missing(table string) string {
	return table + ": missing, though the manifest of the set lists it"
}

// printFindings prints a line for each finding in a table.
func printFindings(out io.Writer, name string, err error) {
	lines := text.Lines(err)
	for i, line := range lines {
		line = strings.TrimPrefix(line, fmt.Sprintf("set: table %q: ", name))
		lines[i] = strings.TrimPrefix(line, fmt.Sprintf("table: %s: ", name))
	}
	for _, line := range slices.Compact(lines) { // damage can be found as the table is opened and read
		text.Line(out, "%s: %s", name, line)
	}
}

// A counted Source shows its reads on a Bar.
type counted struct {
	set.Source
	bar *progress.Bar
}

func (c counted) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	n, err := c.Source.ReadAt(ctx, name, p, off)
	c.bar.Add(int64(n))
	return n, err
}
