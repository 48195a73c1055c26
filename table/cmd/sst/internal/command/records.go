package command

import (
	"io"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sizes"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// scanRecords prints the records of a file whose records are not batches, one per line.
func (f *scanFlags) scanRecords(cmd *cobra.Command, path string) error {
	for _, name := range []string{"from", "to", "prefix", "reverse", "versions", "where", "keys"} {
		if cmd.Flags().Changed(name) {
			return cli.UsageErrorf("--%s is given, but %s is %s: its records have no keys", name, path, dbfile.RecordFile)
		}
	}
	if f.limit < 0 {
		return cli.UsageErrorf("--limit is %d, want 0 or more", f.limit)
	}
	lines, err := newPrinter(cmd.OutOrStdout(), f.format, fields{onlyValue: true})
	if err != nil {
		return err
	}
	p, err := f.newPass(cmd, false)
	if err != nil {
		return err
	}
	n, r := 0, dbfile.Records{Path: path}
	for record, err := range r.All(p.options.Options, math.MaxInt) {
		if err == nil && !f.count {
			err = lines.print(source.Entry{Entry: dbfile.Entry{Value: record.Bytes}})
		}
		if err != nil {
			return err
		}
		if n++; n == f.limit {
			break
		}
	}
	if f.count {
		text.Line(p.out, "%d", n)
	}
	p.noteAbout(path, r.Note)
	return nil
}

// A recordStats has the statistics of a file whose records are not batches.
type recordStats struct {
	File        string          `json:"file"`
	Size        int64           `json:"bytes"`
	Records     uint64          `json:"records"`
	RecordBytes uint64          `json:"record_bytes"`
	RecordSizes sizes.Histogram `json:"record_sizes"`
}

// countRecords reads the records. note says what is at the end and no record.
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
