package report

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// A keyRange is a range as typed into the page's boxes.
type keyRange struct{ Prefix, From, To string }

// has reports whether key is in the range.
func (r keyRange) has(key []byte) bool {
	if r.Prefix != "" {
		return bytes.HasPrefix(key, []byte(r.Prefix))
	}
	return string(key) >= r.From && (r.To == "" || string(key) < r.To)
}

// mark types ranges into the page's boxes, and returns the page's text for each.
const mark = `(ranges) => ranges.map((range) => {
	for (const id of ["prefix", "from", "to"]) document.getElementById(id).value = range[id];
	document.getElementById("prefix").dispatchEvent(new Event("input"));
	return document.getElementById("marked").textContent;
})`

// keysOf returns the user keys of each block.
func keysOf(t *testing.T, f *dbfile.File) (all [][][]byte) {
	t.Helper()
	for _, part := range f.Layout.Data {
		b, err := tablestats.ReadBlock(f, part)
		noError(t, err)
		var keys [][]byte
		for ok := b.Iter.First(); ok; ok = b.Iter.Next() {
			keys = append(keys, bytes.Clone(f.FilterKey(b.Iter.Key())))
		}
		all = append(all, keys)
	}
	return all
}

// holding returns the number of blocks that contain keys of a range.
func holding(blocks [][][]byte, r keyRange) (n int) {
	for _, keys := range blocks {
		if slices.ContainsFunc(keys, r.has) {
			n++
		}
	}
	return n
}

// numbersOf parses the number of marked blocks from the page's text, and whether it is exact.
func numbersOf(t *testing.T, text string) (n int, exact bool) {
	t.Helper()
	if text == "No data block contains such keys." || text == "No data block may contain such keys." {
		return 0, text == "No data block contains such keys."
	}
	var of int
	if _, err := fmt.Sscanf(text, "%d of %d data blocks,", &n, &of); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return n, !bytes.Contains([]byte(text), []byte("may contain"))
}

// The page marks exactly the blocks that contain keys of the range. For blocks without entries it decides by the
// index, which adds at most one block at each end.
func TestMarkedBlocksHoldTheKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		pairs []workload.Pair
		embed uint64
		extra int // blocks
	}{
		{"plain", table.WriterOptions{BlockSize: 400}, bytePairs(900), 1 << 20, 0},
		{"internal", internalOptions(table.WriterOptions{BlockSize: 400}), workload.Versions(workload.Writes(4, 300, 10)), 1 << 20, 0},
		{"without entries", table.WriterOptions{BlockSize: 400}, bytePairs(900), 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := openTable(t, writeTable(t, "t.ldb", tt.o, tt.pairs))
			blocks, ranges := keysOf(t, f), rangesOf(f, tt.pairs)
			page := pagetest.Open(t, writePage(t, f, Options{Embed: tt.embed}), 1200)
			got := pagetest.Call[[]string](page, mark, escapedRanges(ranges))
			for i, r := range ranges {
				n, exact := numbersOf(t, got[i])
				if want := holding(blocks, r); n < want || n > want+tt.extra || !exact && tt.extra == 0 {
					t.Errorf("%+q: the page says %q, want %d blocks", r, got[i], want)
				}
			}
		})
	}
}

// rangesOf returns ranges that start and end at keys, between them, and outside.
func rangesOf(f *dbfile.File, pairs []workload.Pair) (ranges []keyRange) {
	key := func(i int) string { return string(f.FilterKey(pairs[i%len(pairs)].Key)) }
	for i := 1; i < len(pairs); i += len(pairs) / 20 {
		from, to := min(key(i), key(7*i)), max(key(i), key(7*i))
		if from == "" || from == to {
			continue
		}
		ranges = append(ranges, keyRange{From: from, To: to}, keyRange{From: from}, keyRange{To: to},
			keyRange{From: from + "\x00", To: to + "\x00"}, keyRange{From: from, To: from + "\x00"}, keyRange{Prefix: from[:1]}, keyRange{Prefix: from})
	}
	return append(ranges, keyRange{Prefix: "\xff"}, keyRange{Prefix: "\xff\xff"}, keyRange{From: "\xff\xff\xff"}, keyRange{To: "\x00"})
}

func escapedRanges(ranges []keyRange) (all []map[string]string) {
	for _, r := range ranges {
		escape := func(s string) string { return printable.Escape([]byte(s)) }
		all = append(all, map[string]string{"prefix": escape(r.Prefix), "from": escape(r.From), "to": escape(r.To)})
	}
	return all
}

// The page describes the marked range, and reports invalid ranges.
func TestMarkedText(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression}
	page := openPage(t, o, plainPairs(1000), Options{Embed: 1 << 20}, 390)
	got := pagetest.Call[[]string](page, mark, escapedRanges([]keyRange{{Prefix: "key00050"}, {From: "key0002", To: "key0005"}, {From: "zzz"}, {From: "b", To: "a"}, {}}))
	want := []string{
		"1 of 10 data blocks, 4.1 kB, contains such keys.", "4 of 10 data blocks, 16 kB, contain such keys.",
		"No data block contains such keys.", "Empty range: from must be < to.", "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}
