package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/report"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// reportFlags are the options of report.
type reportFlags struct {
	sourceFlags
	embed string
}

func reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report FILE|DIR -o PAGE",
		Short: "Write a web page that shows a table and how keys are looked up in it, or a database",
		Long: `Write a web page about a table or a database, in one file that asks for no other and
works without a network. Of a table, FILE, it shows

  - a map of the file: every block to scale, by part and by compression
  - how large blocks, keys and values are
  - its filters: how full each is and how often it will be wrong, and the worst
  - the way of a lookup: type a key, and see the index entry, the filter, each bit
    that is asked for, the data block and the entry found

All of the table is read. The page always holds the whole index and all filters.
Of entries it holds keys and the first 32 bytes of values, block by block from the
first one, as long as they take no more of the page than --embed says; for blocks
without it shows the sst command that looks the key up.

Of the directory of a database, DIR, it shows

  - its levels in a picture: each table over the range of its keys, so that overlap and
    gaps are seen
  - its levels and tables: sizes, smallest and largest keys, how many tables overlap
  - its logs: which are live, and what these hold
  - what the database lacks

It opens no table: it goes by the MANIFEST, the sizes of files, and the live logs, which it
reads. Without a MANIFEST that can be read it lists tables and logs.

The page is written beside -o first and then renamed, so that it is there whole or
not at all. Damage is shown in the page, and named; the exit status is 3 then.`,
		Example: `  sst report users.ldb -o users.html
  sst report /var/lib/app/db -o db.html
  sst report --embed 100MB users.ldb -o users.html
  sst report --embed 0 users.ldb -o - | gzip > users.html.gz`,
		Args: arguments("FILE or DIR", 1, 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write the page to the file `PAGE`; - is standard output")
	cmd.Flags().StringVar(&f.embed, "embed", "8MB", "`bytes` of the page of a table that keys and values may take, such as 500kB or 1GiB")
	f.add(cmd)
	f.addNoLogs(cmd)
	return cmd
}

// run writes the report on a table or a database.
func (f *reportFlags) run(ctx context.Context, path string, stdout, stderr io.Writer) error {
	if f.out == "" {
		return errors.New("-o is not given, want the file to write, or - for standard output")
	}
	embed, err := humanize.ParseBytes(f.embed)
	if err != nil {
		return fmt.Errorf("--embed is %q, want bytes, such as 8MB", f.embed)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return f.database(ctx, path, stdout, stderr)
	}
	return f.withFile(path, stderr, func(file *source.File) error {
		page, damage := report.New(file, report.Options{Embed: embed, Command: f.command(path)})
		err := interruptible(ctx, func(ctx context.Context) error { return f.write(ctx, page.Write, stdout) })
		return errors.Join(err, file.Wrap(damage))
	})
}

// database writes the report on a database. What it lacks is an error beside the page.
func (f *reportFlags) database(ctx context.Context, path string, stdout, stderr io.Writer) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	read := summary.WithLogs
	if f.noLogs {
		read = summary.Of
	}
	s, damage := read(path, o)
	if s == nil {
		return damage
	}
	for _, note := range s.Notes {
		text.Line(stderr, "sst: note: %s", note)
	}
	page := report.NewDatabase(s, f.noLogs)
	err = interruptible(ctx, func(ctx context.Context) error { return f.write(ctx, page.Write, stdout) })
	return errors.Join(err, damage)
}

// command is what looks up a key of the table.
func (f *reportFlags) command(path string) []string {
	command := []string{"sst", "get", text.ShellPath(path)}
	if f.internalKeys != "auto" {
		command = append(command, "--internal-keys="+f.internalKeys)
	}
	if f.comparator != "auto" {
		command = append(command, "--comparator="+f.comparator)
	}
	return command
}

// write writes the page.
func (f *reportFlags) write(ctx context.Context, page func(io.Writer) error, stdout io.Writer) error {
	to, err := output.Create(ctx, f.out, stdout)
	if err != nil {
		return err
	}
	defer to.Abort() // does nothing after Commit
	out := bufio.NewWriter(to)
	if err := errors.Join(page(out), out.Flush()); err != nil {
		return err
	}
	return output.Commit(to)
}
