package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// print prints r as a table with a row for each block size.
func (r *tried) print(w io.Writer) {
	text.Line(w, "%s: %s", r.Path, r.today())
	if r.Blocks == 0 {
		return
	}
	text.Line(w, "tried: %s", r.part())
	text.Line(w, "")
	names := r.columns()
	head := fmt.Sprintf("%-20s", "block size")
	for _, name := range names {
		head += fmt.Sprintf("%19s", markToday(name, name == r.Compression))
	}
	text.Line(w, "%s", head)
	for row := range slices.Chunk(r.Sizes, len(names)) {
		line := fmt.Sprintf("%-20s", markToday(sizeText(row[0].BlockSize), row[0].BlockSize == r.BlockSize))
		for _, cell := range row {
			line += fmt.Sprintf("%10s %6.2f ×", text.Bytes(cell.Bytes), cell.Ratio)
		}
		text.Line(w, "%s", line)
	}
	text.Line(w, "")
	text.Line(w, "Sizes are of data blocks and index, without filters. × is of today's size.")
}

// today says what the data is like today.
func (r *tried) today() string {
	if r.Blocks == 0 {
		return "no data, so there is nothing to try"
	}
	tables := ""
	if r.Tables > 1 {
		tables = " of " + text.Count(uint64(r.Tables), "table")
	}
	return fmt.Sprintf("data and index%s take %s, in blocks %s, %s", tables, text.Bytes(r.Bytes), blocksOf(r.BlockSize), r.Compression)
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

// columns returns the names of the compressions.
func (r *tried) columns() (names []string) {
	for _, cell := range r.Sizes {
		if cell.BlockSize == r.Sizes[0].BlockSize {
			names = append(names, cell.Compression)
		}
	}
	return names
}

// markToday marks what the data has today.
func markToday(s string, today bool) string {
	if today {
		return s + " (today)"
	}
	return s
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

func blocksOf(size int) string {
	if size == 0 {
		return "of different sizes"
	}
	return "of " + sizeText(size)
}
