package command

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/report"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
)

// reportFlags are the flags of report.
type reportFlags struct {
	sourceFlags
	embed uint64
}

const reportLong = `Write a web page about a table, a database or a set: one file that loads no others. What you select
becomes part of its URL. The page of a

  table     draws each block to scale, and shows sizes, filters, and the steps of a lookup of any
            key; it contains up to 16 MB of index and filters and, up to --embed, the keys with 32
            bytes of each value
  database  draws the tables of each level over their ranges; no table is opened
  set       draws its tables layer by layer, and the filters of one of them

Damage inside the tables of a directory is not found: use sst verify.`

func reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [flags] FILE|DIR -o PAGE",
		Short: "Write a web page about a table, a database or a set",
		Long:  reportLong,
		Example: `  sst report users.ldb -o users.html
  sst report /var/lib/app/db -o db.html
  sst report --embed 0 users.ldb -o - | gzip > users.html.gz`,
		Annotations:       cli.ExitStatus{cli.ExitDamaged: "the page shows damage, or tables that are missing"}.Annotation(),
		Args:              cli.Arguments("FILE or DIR", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, sourceNames...),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0])
		},
	}
	cli.AddPageFlag(cmd, &f.out)
	cmd.Flags().Var(cli.Size(&f.embed, "8MB", 0, math.MaxInt64, "a size from 0 to 8EB, such as 500kB or 8MB"), "embed", "at most this `size` of keys and values in a page")
	f.add(cmd)
	f.addNoLogs(cmd)
	return cmd
}

// run writes the report on a table, a database or a set. Damage is both on the page and in the error.
func (f *reportFlags) run(cmd *cobra.Command, path string) error {
	if f.out == "" {
		return cli.ErrNoPage
	}
	p := f.newPass(cmd, false)
	write := func(page func(io.Writer) error, damage error) error {
		return errors.Join(cli.WritePage(cmd.Context(), f.out, page, p.out), damage)
	}
	if dbdir.IsSet(path) {
		return p.reportSet(path, write)
	}
	if files.IsDir(path) {
		s, damage := summary.Read(path, p.options.ListOptions, !f.NoLogs)
		if s == nil {
			return damage
		}
		p.note(s.Notes...)
		return write(report.NewDatabase(s, f.NoLogs).Write, damage)
	}
	if dbfile.IsLogFile(path, p.options.Options) {
		database := ""
		if dbfile.IsOfDatabase(path) {
			database = ", or " + files.CommandLine("report %s for the database", files.Dir(path))
		}
		return fmt.Errorf("%s is a log: use %s or %s%s", path, files.CommandLine("layout %s", path), files.CommandLine("scan %s", path), database)
	}
	return f.withFile(path, p.stderr, func(file *dbfile.File) error {
		page, damage := report.New(file, report.Options{Embed: f.embed, Source: f.source(path)})
		return write(page.Write, file.Wrap(damage))
	})
}

// reportSet writes the report on a set. It shows the filters of one table in the base, which stand for all.
func (p *pass) reportSet(path string, write func(page func(io.Writer) error, damage error) error) error {
	s, damage := summary.ReadSet(path, p.options.ListOptions)
	if s == nil {
		return damage
	}
	p.note(s.Notes...)
	i := slices.IndexFunc(s.Files, func(t summary.SetTable) bool { return t.Layer == 0 && t.Problem == "" })
	if i < 0 {
		return write(report.NewSet(s, path, nil, 0).Write, damage)
	}
	one, err := s.Files[i].Open(p.options.ListOptions)
	if err != nil {
		s.Damage = append(s.Damage, text.Lines(err)...)
	} else {
		defer one.Close() // it was only read
	}
	return write(report.NewSet(s, path, one, s.Files[i].Line.Entries).Write, errors.Join(damage, err))
}

// source returns the arguments with which sst reads the table in the same way.
func (f *reportFlags) source(path string) string {
	args := format.ShellPath(path)
	if f.internalKeys != "auto" {
		args += " --internal-keys=" + f.internalKeys
	}
	if f.comparator != "auto" {
		args += " --comparator=" + f.comparator
	}
	return args
}
