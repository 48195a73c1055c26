package command

import (
	"cmp"
	"errors"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

const statsLong = `Print statistics of tables: blocks, sizes, what compression and prefixes save, and the filters'
false-positive rates, predicted and measured with random keys. A note says if keys similar to
present ones have far higher rates. Databases and sets are described by their manifests, without
opening tables.

--try samples at most 16 MiB of blocks and 64 tables; its sizes are without filters. --by-prefix
counts the stored and the live versions. Counts are approximate if there are more than half a
million prefixes and the order is not bytewise.
See sst help sources.`

func statsCommand() *cobra.Command {
	var flags sourceFlags
	var prefixes prefixFlags
	var asJSON, asTrial, eachTable bool
	cmd := &cobra.Command{
		SuggestFor: []string{"info", "size"},
		Use:        "stats [flags] FILE|DIR...",
		Short:      "Describe tables, databases, sets and their filters",
		Long:       statsLong,
		Example: `  sst stats users.ldb /var/lib/app/db
  sst stats --by-prefix --delimiter / /var/lib/app/db
  sst stats --json users.ldb | jq '.filters[0].measured_rate'`,
		Annotations: cli.ExitStatus{
			cli.ExitDamaged: "a table or a log is damaged, missing, or of a wrong size",
		}.Annotation(),
		Args:              cli.Arguments("FILE or DIR", 1, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.Files(0, sourceNames...),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON objects, with sizes in bytes")
	cmd.Flags().BoolVar(&eachTable, "tables", false, "of a directory, describe each table")
	cmd.Flags().BoolVar(&asTrial, "try", false, "try other block sizes and compressions")
	prefixes.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("tables", "try", "by-prefix")
	flags.addDir(cmd)
	flags.addStrict(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := flags.newPass(cmd, asJSON)
		if err := prefixes.parse(); err != nil {
			return err
		}
		switch {
		case prefixes.on:
			flags.ScanOnly = true
			return each(p, args, func(path string) error { return p.countPrefixes(path, &prefixes) })
		case asTrial:
			return each(p, args, p.try)
		case eachTable:
			return p.statsOfAll(p.targets(args, false))
		}
		return p.statsOfAll(p.summarized(args))
	}
	return cmd
}

// summarized returns targets for the arguments. A directory is a single target.
func (p *pass) summarized(args []string) (all []target) {
	for _, arg := range args {
		if dbdir.IsDirectory(arg) {
			all = append(all, target{dbdir.File{Path: arg}, isDirectory, nil, new(folder)})
		} else {
			all = append(all, p.targets([]string{arg}, false)...)
		}
	}
	return all
}

// statsOfAll prints the statistics of all targets, and then returns their damage.
func (p *pass) statsOfAll(files []target) error {
	bar := progress.Bytes(p.stderr, sizeOf(files...), "reading")
	defer bar.Done()
	p.options.WrapReader = bar.ReaderAt
	budget := tablestats.NewBudget(len(files))
	return p.eachFile(files, func(t target) error {
		switch t.kind {
		case isLog:
			return p.statsOfLog(t)
		case isRecords:
			return p.statsOfRecords(t.Path)
		case isDirectory:
			return p.summarize(t.Path)
		}
		return p.statsOfTable(t, budget)
	})
}

// statsOfTable prints the statistics of a table, and then returns its damage.
func (p *pass) statsOfTable(t target, budget *tablestats.Budget) error {
	f, err := t.open(p.options)
	if err != nil {
		return source.LossOf(t.File, err)
	}
	s, damage := tablestats.Collect(f, func(err error) error { return source.LossIn(f, err) }, budget)
	damage = source.JoinLosses(damage)
	s.Measure(f)
	note, err := f.CheckSize(t.Meta)
	p.noteAbout(t.Path, note)
	if err == nil && t.Meta != nil && f.Internal {
		err = f.CheckEnds(t.Meta)
	}
	return errors.Join(damage, source.LossOf(t.File, err), p.print(s, func(w io.Writer) { printStats(w, s) }), f.Close())
}

// statsOfLog prints the statistics of a log, and then returns its damage.
func (p *pass) statsOfLog(t target) error {
	s, l := summary.LogStats{File: t.Path}, t.nextLog(p.options)
	if err := s.Count(l, table.AnyOrder); err != nil {
		return err
	}
	p.noteAbout(t.Path, l.UnwrittenNote())
	return cmp.Or(p.print(s, func(w io.Writer) {
		text.Row(w, "log", "%s: %s", s.File, text.Bytes(uint64(s.Size)))
		if s.Writes == 0 {
			text.Row(w, "  writes", "none")
			return
		}
		text.Row(w, "  writes", "%s, including %s", humanize.Comma(int64(s.Writes)), text.Count(uint64(s.Deletions), "deletion"))
		text.Row(w, "  sequence", "%d to %d", s.First, s.Last)
		text.Row(w, "  keys", "%s", text.Bytes(uint64(s.KeyBytes)))
		text.Row(w, "  values", "%s", text.Bytes(uint64(s.ValueBytes)))
		text.Row(w, "  key sizes", "%s", s.KeySizes)
		text.Row(w, "  value sizes", "%s", s.ValueSizes)
	}), l.DamageError())
}

// A recordStats has the statistics of a file whose records are not batches.
type recordStats struct {
	File        string               `json:"file"`
	Size        int64                `json:"bytes"`
	Records     uint64               `json:"records"`
	RecordBytes uint64               `json:"record_bytes"`
	RecordSizes tablestats.Histogram `json:"record_sizes"`
}

// countRecords counts the records. note describes bytes at the end that are not a record.
func countRecords(path string, o source.Options) (s recordStats, note string, err error) {
	r := dbfile.Records{Path: path}
	for record, err := range r.All(o.Options, 0) {
		if err != nil {
			return s, "", err
		}
		s.Records++
		s.RecordBytes += uint64(record.Len)
		s.RecordSizes.Add(record.Len)
	}
	s.File, s.Size = path, r.Size
	return s, r.Note, nil
}

// statsOfRecords prints the statistics of a file whose records are not batches.
func (p *pass) statsOfRecords(path string) error {
	s, note, err := countRecords(path, p.options)
	if err != nil {
		return err
	}
	p.noteAbout(path, note)
	return p.print(s, func(w io.Writer) {
		text.Row(w, "records", "%s: %s, %s", path, text.Bytes(uint64(s.Size)), dbfile.RecordFile)
		text.Row(w, "  records", "%s", humanize.Comma(int64(s.Records)))
		text.Row(w, "  in all", "%s", text.Bytes(s.RecordBytes))
		text.Row(w, "  sizes", "%s", s.RecordSizes)
	})
}
