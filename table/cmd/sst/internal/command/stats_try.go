package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/trial"
)

// Limits of the sample, so that a trial takes a few seconds.
const (
	maxTryBytes  = 16 << 20 // of uncompressed blocks
	maxTryTables = 64       // of a directory
)

// trySizes are the block sizes that are tried besides the table's own, which 0 stands for.
var trySizes = []int{1 << 10, 4 << 10, 16 << 10, 64 << 10}

// tryCompressions are tried for every table. If a table has another one, it is tried too.
var tryCompressions = []string{"none", "snappy", "zstd"}

// A tried has the sizes of a table, or of the tables in a directory, with other settings.
type tried struct {
	Path        string      `json:"file"`
	Tables      int         `json:"tables"` // that exist
	TriedTables int         `json:"tried_tables"`
	Blocks      int         `json:"data_blocks"` // of the tables that are tried
	TriedBlocks int         `json:"tried_data_blocks"`
	Entries     int         `json:"tried_entries"`
	BlockSize   int         `json:"block_size"` // 0: differs from table to table
	Compression string      `json:"compression"`
	Bytes       uint64      `json:"bytes"` // of data blocks and indexes
	Sizes       []triedSize `json:"sizes"`

	columns      []string       // the compressions that are tried
	compressions map[string]int // blocks by the name of their compression
}

// A triedSize is the size of data blocks and indexes with one setting.
type triedSize struct {
	BlockSize   int     `json:"block_size"` // 0: as each table has it
	Compression string  `json:"compression"`
	Bytes       uint64  `json:"bytes"`
	Ratio       float64 `json:"ratio"` // to the current size
}

// try prints the sizes of a table or a directory with other settings. Damage is an error of the pass.
func (p *pass) try(path string) error {
	tables := slices.DeleteFunc(p.targets([]string{path}, false), func(t target) bool { return t.kind == isLog && t.in.Path != "" })
	r := &tried{Path: path, compressions: map[string]int{}}
	var chosen []target // at most maxTryTables, spread evenly, and all missing ones, which are errors
	for i, t := range tables {
		if !t.Missing {
			r.Tables++
		}
		if n := min(maxTryTables, len(tables)); t.Missing || i*n%len(tables) < n {
			chosen = append(chosen, t)
		}
	}
	all, part := max(1, float64(sizeOf(tables...))), max(1, float64(sizeOf(chosen...)))
	bar := progress.Count(p.stderr, int64(len(chosen)*(len(trySizes)+1)), "trying", "block sizes")
	defer bar.Done()
	p.eachFile(chosen, func(t target) error {
		most := math.Ceil(maxTryBytes * max(1, float64(sizeOf(t))) / part)
		return r.tryTable(t, p.options, int64(most), bar)
	})
	if r.TriedTables == 0 || p.stopped() { // the errors say why
		return nil
	}
	r.finish(all / part)
	return p.print(r, r.print)
}

// tryTable adds a table to r, and then returns its damage.
func (r *tried) tryTable(t target, o source.Options, most int64, bar *progress.Bar) error {
	if t.kind == isLog {
		return fmt.Errorf("%s is a log, which has no blocks: --try needs a table or a directory", t.Path)
	}
	f, err := t.open(o)
	if err != nil {
		return err
	}
	s, damage := trial.Take(f, most)
	if s == nil || s.Blocks > 0 && s.Tried == 0 { // no block could be tried
		return errors.Join(damage, f.Close())
	}
	return errors.Join(damage, r.add(s, bar), f.Close())
}

// add adds a Sample, and its sizes with all settings. The first Sample determines the settings.
func (r *tried) add(s *trial.Sample, bar *progress.Bar) error {
	if r.Sizes == nil {
		r.start(mainCompression(s.Compression))
	}
	if s.Blocks > 0 && r.Blocks == 0 {
		r.BlockSize = s.BlockSize
	} else if s.Blocks > 0 && s.BlockSize != r.BlockSize {
		r.BlockSize = 0
	}
	r.TriedTables++
	r.Blocks += s.Blocks
	r.TriedBlocks += s.Tried
	r.Entries += s.Entries
	r.Bytes += s.Data + s.Index
	for name, n := range s.Compression {
		r.compressions[name] += n
	}
	known := map[triedSize]uint64{} // without Bytes and Ratio
	for i := range r.Sizes {
		cell := &r.Sizes[i]
		setting := triedSize{BlockSize: cmp.Or(cell.BlockSize, s.BlockSize), Compression: cell.Compression}
		if _, ok := known[setting]; !ok {
			size, err := s.Size(setting.BlockSize, compressions[setting.Compression])
			if err != nil {
				return err
			}
			known[setting] = size
		}
		cell.Bytes += known[setting]
		if (i+1)%len(r.columns) == 0 {
			bar.Add(1)
		}
	}
	return nil
}

// start chooses the settings. own is the compression of a table.
func (r *tried) start(own string) {
	r.columns = slices.Clone(tryCompressions)
	if !slices.Contains(r.columns, own) {
		r.columns = append(r.columns, own)
	}
	for _, size := range append(slices.Clone(trySizes), 0) {
		for _, name := range r.columns {
			r.Sizes = append(r.Sizes, triedSize{BlockSize: size, Compression: name})
		}
	}
}

// finish completes r. times is the size of all tables divided by the size of the tried ones.
func (r *tried) finish(times float64) {
	r.Compression = mainCompression(r.compressions)
	r.Bytes = uint64(float64(r.Bytes) * times)
	if slices.Contains(trySizes, r.BlockSize) {
		r.Sizes = slices.DeleteFunc(r.Sizes, func(s triedSize) bool { return s.BlockSize == 0 })
	}
	for i := range r.Sizes {
		cell := &r.Sizes[i]
		cell.BlockSize = cmp.Or(cell.BlockSize, r.BlockSize)
		cell.Bytes = uint64(float64(cell.Bytes) * times)
		cell.Ratio = float64(cell.Bytes) / float64(max(1, r.Bytes))
	}
	if r.Blocks == 0 {
		r.BlockSize, r.Sizes = 0, []triedSize{}
	}
	slices.SortStableFunc(r.Sizes, func(a, b triedSize) int { return cmp.Compare(a.BlockSize, b.BlockSize) })
}

// print prints r as a table with a row for each block size.
func (r *tried) print(w io.Writer) {
	if r.Blocks == 0 {
		text.Line(w, "%s: no data to try", r.Path)
		return
	}
	tables, blocks := "", "of different sizes"
	if r.Tables > 1 {
		tables = " of " + text.Count(uint64(r.Tables), "table")
	}
	if r.BlockSize > 0 {
		blocks = "of " + sizeText(r.BlockSize)
	}
	text.Line(w, "%s: data and index%s take %s, in blocks %s, %s", r.Path, tables, text.Bytes(r.Bytes), blocks, r.Compression)
	text.Line(w, "tried: %s", r.part())
	text.Line(w, "")
	current := map[bool]string{true: " (current)"}
	head := fmt.Sprintf("%-20s", "block size")
	for _, name := range r.columns {
		head += fmt.Sprintf("%19s", name+current[name == r.Compression])
	}
	text.Line(w, "%s", head)
	for row := range slices.Chunk(r.Sizes, len(r.columns)) {
		line := fmt.Sprintf("%-20s", sizeText(row[0].BlockSize)+current[row[0].BlockSize == r.BlockSize])
		for _, cell := range row {
			line += fmt.Sprintf("%10s %6.2f ×", text.Bytes(cell.Bytes), cell.Ratio)
		}
		text.Line(w, "%s", line)
	}
	text.Line(w, "")
	text.Line(w, "Sizes are of data blocks and index, without filters. × is relative to the current size.")
}

// part says how much was tried.
func (r *tried) part() string {
	var parts []string
	if r.TriedTables < r.Tables {
		parts = append(parts, fmt.Sprintf("%d of %s", r.TriedTables, text.Count(uint64(r.Tables), "table")))
	}
	if r.TriedBlocks < r.Blocks {
		parts = append(parts, fmt.Sprintf("%s of %s", humanize.Comma(int64(r.TriedBlocks)), text.Count(uint64(r.Blocks), "block")))
	}
	entries := text.Count(uint64(r.Entries), "entry")
	if parts == nil {
		return "all " + entries
	}
	return strings.Join(parts, ", in these ") + ", spread evenly, with " + entries
}

// sizeText formats a block size. 0 means that tables have different ones.
func sizeText(n int) string {
	switch {
	case n == 0:
		return "as it is"
	case n%1024 == 0:
		return strings.Replace(humanize.IBytes(uint64(n)), ".0 ", " ", 1)
	}
	return text.Count(uint64(n), "byte")
}
