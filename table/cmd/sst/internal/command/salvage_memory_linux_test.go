package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
)

// Salvage takes no more memory for files with very many blocks or losses than for others.
func TestMemoryOfSalvage(t *testing.T) {
	long.Test(t)
	long.NoRace(t) // the race detector takes memory too
	path := filepath.Join(t.TempDir(), "t.ldb")
	for name, tt := range map[string]struct{ contents, want string }{
		"gaps between blocks":      {manyBlocks(rawtable.Entries("a", ""), "x"), "the input is damaged"},
		"blocks of entries":        {manyBlocks(rawtable.Entries("a", ""), ""), "the input is damaged"},
		"blocks of a byte":         {manyBlocks("\xff", ""), "the input is damaged"},
		"an index of damaged ones": {manyListed(480_000), "the input is damaged"},
		"a long index":             {manyListed(600_000), "its index: 5087731 bytes, above the limit of 4194304 (1/16 of --memory plus 2 MiB): use --memory 46MiB"},
		"entries that reach far":   {strings.Repeat("\x00\x01\x80\x80\x08", 8<<20/5), "the input is damaged"},
		"entries without an end":   {strings.Repeat("\x00\x01\x00\x00", 8<<20/4), "the input is damaged"},
		"a metaindex of very many": {listing(500_000), "the input is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, path, tt.contents)
			checkPeak(t, 32<<20, []string{"repair", path, "-o", path + ".out", "--memory", "32MiB"}, tt.want)
		})
	}
}

// manyBlocks returns 8 MB of copies of a block, with the bytes between after each.
func manyBlocks(contents, between string) string {
	var f rawtable.File
	f.Block(contents)
	return strings.Repeat(string(f.Bytes)+between, 8_000_000/(len(f.Bytes)+len(between)))
}

// manyListed returns a table whose index lists n blocks, all of them damaged. Its separators are as short as
// possible.
func manyListed(n int) string {
	var f rawtable.File
	var index strings.Builder
	for i := range n {
		key := fmt.Sprintf("%06x", i)
		shared := 0
		if i > 0 {
			shared = format.SharedLen([]byte(key), fmt.Appendf(nil, "%06x", i-1))
		}
		index.WriteString(rawtable.Entry(uint64(shared), key[shared:], rawtable.Handle(uint64(len(f.Bytes)), 1)))
		f.Bytes = append(f.Bytes, "\xff\x00\x00\x00\x00\x00"...)
	}
	metaindex := f.Block(rawtable.Entries())
	return string(f.Footer(metaindex, f.Stored(string(snappy.Encode(nil, []byte(index.String()+rawtable.Restarts(0)))), 1)))
}

// listing returns a block of data, and a metaindex that lists it very often.
func listing(n int) string {
	var f rawtable.File
	handle := f.Block(rawtable.Entries("a", ""))
	var metaindex strings.Builder
	metaindex.WriteString(rawtable.Entry(0, "filter.", handle))
	for range n {
		metaindex.WriteString(rawtable.Entry(7, "x", handle))
	}
	f.Stored(string(snappy.Encode(nil, []byte(metaindex.String()+rawtable.Restarts(0)))), 1)
	return string(f.Bytes)
}
