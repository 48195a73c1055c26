package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/byprefix"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/internalkey"
)

// prefixFlags are the flags of stats --by-prefix.
type prefixFlags struct {
	on        bool
	delimiter string
	length    int
	top       int

	// parse sets these.
	prefix  filter.Prefixer
	without string // describes the keys that have no prefix
}

// maxTop is the largest --top. Each prefix takes memory.
const maxTop = 100_000

func (f *prefixFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.on, "by-prefix", false, "show entries and bytes by key prefix, the largest first")
	cmd.Flags().StringVar(&f.delimiter, "delimiter", "", "with --by-prefix: prefixes end with this `text`")
	cmd.Flags().IntVar(&f.length, "length", 1, "with --by-prefix: prefixes have this many bytes")
	cli.CountVar(cmd.Flags(), &f.top, "top", "", 20, "with --by-prefix: how many prefixes to print")
	for _, name := range []string{"delimiter", "length", "top"} {
		cli.Needs(cmd, name, "by-prefix")
	}
	cmd.MarkFlagsMutuallyExclusive("delimiter", "length")
	cli.Complete(cmd, "delimiter", "/", ":", ".")
}

// parse checks the flags, and sets prefix and without.
func (f *prefixFlags) parse() error {
	err := cmp.Or(cli.CheckRange("--length", f.length, 1, math.MaxInt32), cli.CheckRange("--top", f.top, 1, maxTop))
	if err != nil {
		return err
	}
	f.prefix, f.without = filter.PrefixOfLength(f.length), fmt.Sprintf("keys of < %d bytes", f.length)
	if f.length == 1 {
		f.without = "the empty key"
	}
	delimiter, err := printable.Unescape(f.delimiter)
	if err != nil {
		return cli.UsageErrorf("--delimiter is %s: %w", format.Quote([]byte(f.delimiter)), err)
	}
	if len(delimiter) > 0 {
		f.prefix, f.without = filter.PrefixUntil(string(delimiter)), "keys without "+format.Quote(delimiter)
	}
	return nil
}

// countPrefixes prints the counts of a table, log, set or database.
func (p *pass) countPrefixes(path string, f *prefixFlags) error {
	defer p.flags.showProgress(p.stderr, "counting", path)()
	return p.flags.with(path, p.stderr, func(s *source.Source) error {
		r, err := f.count(s)
		if err != nil {
			return err
		}
		if n := r.Unknown; n.Entries > 0 {
			p.noteAbout(s.Path, fmt.Sprintf("too many prefixes for this key order: %s with %s count as others, and some of these may be larger than those printed. For fewer prefixes, use a shorter --length or another --delimiter",
				text.Count(n.Entries, "entry"), text.Bytes(n.Bytes())))
		}
		return errors.Join(p.print(r, r.print), namedLosses(s, s.Losses(source.KeyRange{}), "entries of these keys are missing from the counts"))
	})
}

// showProgress shows how much of the sources' tables has been read, until done is called. what names the work, such
// as "merging".
func (f *sourceFlags) showProgress(stderr io.Writer, what string, paths ...string) (done func()) {
	bar := progress.Bytes(stderr, f.sizeOfTables(paths), what)
	f.WrapReader = bar.ReaderAt
	return bar.Done
}

// sizeOfTables returns the size of the tables of sources, or -1 if it is unknown.
func (f *sourceFlags) sizeOfTables(paths []string) int64 {
	var files []string
	for _, path := range paths {
		if !dbdir.IsDirectory(path) {
			files = append(files, path)
			continue
		}
		d, _ := dbdir.ListDir(path, f.options().ListOptions)
		files = append(files, dbdir.PathsOf(d.Tables)...)
	}
	return input.TotalSize(files)
}

// count counts the entries of a source.
func (f *prefixFlags) count(s *source.Source) (r prefixResult, err error) {
	versions := (s.HasVersions() || s.HasLayers() || s.IsEmptyDatabase()) && s.Order != table.AnyOrder
	c := byprefix.NewCounter(f.prefix, f.top, comparers.KeepsPrefixes(s.Order), versions)
	var last []byte // nil: there is none
	for e, err := range s.Scan(source.ScanOptions{Versions: true, InOrder: true}) {
		if err != nil {
			return r, err
		}
		newest := last == nil || !s.SameKey(e.Key, last)
		last = format.AppendNotNil(last[:0], e.Key)
		c.Add(e.Key, e.Value, newest && e.Kind != internalkey.Delete)
	}
	return prefixResult{s.Path, c.Result(), f.without}, nil
}

// A prefixResult has the counts of a source by prefix.
type prefixResult struct {
	Path string `json:"file"`
	*byprefix.Result
	without string // describes the keys that have no prefix
}

// print prints a line for each of the top prefixes, and then for the rest and the total.
func (r prefixResult) print(out io.Writer) {
	if r.Entries == 0 {
		text.Line(out, "%s: no entries", r.Path)
		return
	}
	more, others := "", text.Count(r.Prefixes-uint64(len(r.Top)), "other prefix")
	if r.Unknown.Entries > 0 {
		more, others = "more than ", "all other prefixes"
	}
	text.Line(out, "%s: %s, %s%s", r.Path, text.Count(r.Entries, "entry"), more, text.Count(r.Prefixes, "prefix"))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush() // out remembers its error
	head := []string{"bytes", "share", "keys", "values", "entries"}
	if r.Live != nil {
		head = append(head, "live bytes", "live entries")
	}
	text.Cells(w, append(head, "  prefix")...)
	for _, g := range r.Top {
		r.row(w, g.Count, format.Quote(g.Prefix))
	}
	r.row(w, r.Without, r.without)
	r.row(w, r.Others, others)
	r.row(w, r.Count, "all")
}

// row prints the line of a count, unless it is zero.
func (r prefixResult) row(w io.Writer, n byprefix.Count, what string) {
	if n.Entries == 0 {
		return
	}
	share := 100 * float64(n.Bytes()) / float64(max(1, r.Bytes()))
	cells := []string{text.Bytes(n.Bytes()), fmt.Sprintf("%.1f %%", share), text.Bytes(n.KeyBytes), text.Bytes(n.ValueBytes), humanize.Comma(int64(n.Entries))}
	if r.Live != nil {
		cells = append(cells, text.Bytes(n.LiveBytes), humanize.Comma(int64(n.LiveEntries)))
	}
	text.Cells(w, append(cells, "  "+what)...)
}
