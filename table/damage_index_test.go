package table_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// secondHandle replaces the second block's handle in the index: 22 bytes at 27.
func secondHandle(h string) func(p *twoBlocks) {
	return func(p *twoBlocks) {
		p.handles = func(h1, h2 string) (string, string) { return h1, h }
	}
}

// footerOf replaces the footer's handles.
func footerOf(f func(metaindex, index string) (string, string)) func(p *twoBlocks) {
	return func(p *twoBlocks) { p.footer = f }
}

// endOf changes the whole file.
func endOf(f func(file []byte) []byte) func(p *twoBlocks) {
	return func(p *twoBlocks) { p.end = f }
}

// TestDamagedIndexes corrupts the separators, handles and footer, which lead to the data blocks. NewReader refuses
// most of these tables.
func TestDamagedIndexes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(p *twoBlocks)
		want   string
	}{
		// A handle has two numbers from the file, which can have any value.
		{"a handle past the end of the file", secondHandle(rawtable.Handle(1000, 22)), "index block at 128: separator \"e\": handle of 22 bytes at 1000 is not within"},
		{"a handle at 2⁴⁰", secondHandle(rawtable.Handle(1<<40, 22)), "handle of 22 bytes at 1099511627776 is not within"},
		{"a handle of 2⁴⁰ bytes", secondHandle(rawtable.Handle(27, 1<<40)), "handle of 1099511627776 bytes at 27 is not within"},
		{"a handle at 2⁶³: negative", secondHandle(rawtable.Handle(1<<63, 22)), "at 9223372036854775808 is not within"},
		{"a handle of 2⁶³ bytes", secondHandle(rawtable.Handle(27, 1<<63)), "handle of 9223372036854775808 bytes at 27 is not within"},
		{"a handle of 2⁶⁴−5 bytes: with its trailer it wraps", secondHandle(rawtable.Handle(27, math.MaxUint64-4)), "handle of 18446744073709551611 bytes at 27 is not within"},
		{"a handle at 2⁶⁴−5", secondHandle(rawtable.Handle(math.MaxUint64-4, 22)), "at 18446744073709551611 is not within"},
		{"a handle into the footer", secondHandle(rawtable.Handle(27, 150)), "handle of 150 bytes at 27 is not within"},
		{"a handle whose trailer is in the footer", secondHandle(rawtable.Handle(27, 127)), "handle of 127 bytes at 27 is not within the 157 bytes before the footer"},
		{"a handle of no bytes", secondHandle(rawtable.Handle(27, 0)), "handle of 0 bytes at 27"},
		{"no handle", secondHandle(""), "not two minimal varints"},
		{"half a handle", secondHandle("\x1b"), "not two minimal varints"},
		{"a handle of varints that are not minimal", secondHandle("\x9b\x00\x16"), "not two minimal varints"},

		// If blocks overlap, a byte has two meanings.
		{"a handle into the block before", secondHandle(rawtable.Handle(20, 22)), "data block at 20 overlaps the one before, which ends at 27"},
		{"two entries for one block", secondHandle(rawtable.Handle(0, 22)), "data block at 0 overlaps the one before"},
		{"blocks in another order than the file's", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h2, h1 }
		}, "data block at 0 overlaps the one before, which ends at 54"},
		{"a data block over the metaindex", secondHandle(rawtable.Handle(27, 60)), "data block at 27 overlaps the block at 77"},
		{"a data block that is the metaindex", secondHandle(rawtable.Handle(77, 46)), "data block at 77 overlaps the block at 77"},
		{"a data block that is the index", secondHandle(rawtable.Handle(128, 24)), "data block at 128 overlaps the block at 128"},
		{"a data block over the filter, whose checksum it lacks", secondHandle(rawtable.Handle(27, 40)), "data block at 27: checksum mismatch"},

		// Order.
		{"separators out of order", func(p *twoBlocks) { p.separators = [2]string{"e", "b"} }, "index block at 128: entry at"},
		{"equal separators", func(p *twoBlocks) { p.separators = [2]string{"e", "e"} }, "index block at 128: entry at"},
		{"a separator below its block's last key", func(p *twoBlocks) { p.separators[0] = "ab" }, `data block at 0: key "b"`},
		{"a separator that is the next block's first key", func(p *twoBlocks) { p.separators[0] = "c" }, `data block at 27: first key "c"`},

		// The footer.
		{"bad magic", endOf(func(file []byte) []byte { file[len(file)-1] ^= 1; return file }), "footer at 157: magic number is 0xda4775248b80fb57, not 0xdb4775248b80fb57"},
		{"handles of no bytes", footerOf(func(m, i string) (string, string) { return rawtable.Handle(0, 0), rawtable.Handle(0, 0) }), "footer at 157: handle of 0 bytes"},
		{"an index of no bytes", footerOf(func(m, i string) (string, string) { return m, rawtable.Handle(128, 0) }), "footer at 157: handle of 0 bytes"},
		{"no handles", footerOf(func(m, i string) (string, string) { return strings.Repeat("\xff", 40), "" }), "footer at 157: handle"},
		{"an index handle into the footer", footerOf(func(m, i string) (string, string) { return m, rawtable.Handle(128, 25) }), "footer at 157: handle of 25 bytes at 128 is not within"},
		{"index and metaindex are one block", footerOf(func(m, i string) (string, string) { return i, i }), "index at 128 overlaps metaindex at 128"},
		{"index and metaindex overlap", footerOf(func(m, i string) (string, string) { return rawtable.Handle(77, 60), i }), "index at 128 overlaps metaindex at 77"},
		{"a data block as index", footerOf(func(m, i string) (string, string) { return m, rawtable.Handle(0, 22) }), "index block at 0: separator"},
		{"metaindex and index swapped: the filter as data block", footerOf(func(m, i string) (string, string) { return i, m }), "data block at 54: "},
		{"metaindex and index swapped, of a table without filter: no entries", func(p *twoBlocks) {
			p.filter = ""
			p.footer = func(m, i string) (string, string) { return i, m }
		}, `index block at 54: no entries, but the metaindex has "b", which is not a meta block`},

		// The file's size.
		{"a file shorter than a footer", endOf(func(file []byte) []byte { return file[len(file)-47:] }), "footer at 0: file of 47 bytes (minimum 48)"},
		{"an empty file", endOf(func(file []byte) []byte { return nil }), "footer at 0: file of 0 bytes (minimum 48)"},
		{"a footer and nothing else", endOf(func(file []byte) []byte { return file[len(file)-48:] }), "footer at 0: handle of 46 bytes at 77 is not within the 0 bytes"},
		{"a file that goes on", endOf(func(file []byte) []byte { return append(file, 0) }), "footer at 158: magic number"},
		{"a file that is only its end", endOf(func(file []byte) []byte { return file[10:] }), "footer at 147: handle of 24 bytes at 128 is not within"},
	} {
		inspect(t, tt.name, soundBut(tt.damage), nil, truthOf(soundPairs...)).reports(tt.want)
	}
}

// Engines do not read the padding of the footer. Only Verify and Layout report corruption there.
func TestDamagedPadding(t *testing.T) {
	contents := sound().build()
	handles := len(rawtable.Handle(77, 46) + rawtable.Handle(128, 24))
	for bit := 8 * (len(contents) - 48 + handles); bit < 8*(len(contents)-8); bit++ {
		damaged := bytes.Clone(contents)
		damaged[bit/8] ^= 1 << (bit % 8)
		in := inspect(t, fmt.Sprintf("bit %d", bit), damaged, nil, truthOf(soundPairs...))
		in.costsTimeOnly()
		checkError(t, in.name+": Verify", in.verified, table.ErrCorrupt, "footer at 157: padding")
		checkError(t, in.name+": FooterErr", layoutOf(t, damaged).FooterErr, table.ErrCorrupt, "")
	}
}

// An empty table may list meta blocks, under engines' names for them.
func TestEmptyTableWithMetaBlocks(t *testing.T) {
	for name, sound := range map[string]bool{
		"filter.other": true, "rocksdb.properties": true, "fullfilter.any": true,
		"separator": false, "a.rocksdb.": false,
	} {
		var f rawtable.File
		h := f.Block(rawtable.Entries())
		metaindex := f.Block(rawtable.Entries(name, h))
		in := inspect(t, name, f.Footer(metaindex, f.Block(rawtable.Entries())), nil, nil)
		if (in.opened == nil) != sound || (in.verified == nil) != sound {
			t.Errorf("%s: NewReader = %v, Verify = %v; want them nil: %v", name, in.opened, in.verified, sound)
		}
	}
}

// The metaindex of an empty table is read, but its corruption is not an error of the filter.
func TestEmptyTableWithDamagedMetaindex(t *testing.T) {
	t.Parallel()
	var f rawtable.File
	contents := f.Footer(f.Block("damaged!"), f.Block(rawtable.Entries()))
	checkError(t, "FilterErr", open(t, contents, nil).FilterErr(), table.ErrCorrupt, "metaindex block at 0")
	r := open(t, contents, &table.ReaderOptions{IgnoreFilter: true})
	noError(t, r.FilterErr())
	checkError(t, "Verify", r.Verify(), table.ErrCorrupt, "metaindex block at 0")
}

// One entry of a large index is malformed, which is noticed when a search reaches it: the search fails, and does not
// lead to another block.
func TestSearchThatComesToAMalformedEntry(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	contents := build(t, oneKeyBlocks, pairs)
	layout := layoutOf(t, contents)
	index := contents[layout.Index.Offset:][:layout.Index.Length]
	const half = 50                                                // where each search begins
	index[bytes.Index(index, layout.Data[half].Separator)-3] = 100 // shared bytes, more than the previous key has
	rawtable.Repair(contents)
	r := open(t, contents, nil)
	calls := maps.Clone(lookups)
	calls["Locate"] = func(r *table.Reader, key []byte) ([]byte, error) { return nil, errorOf(r.Locate(key)) }
	for name, search := range calls {
		for _, i := range []int{0, half - 1, half, 99} {
			checkError(t, fmt.Sprint(name, " of key ", i), errorOf(search(r, pairs[i].Key)), table.ErrCorrupt, "index block at")
		}
	}
}

// filterOfKeys returns one filter of 10 bits per key.
func filterOfKeys(keys ...string) string {
	return string(filtertest.Build(filter.NewBloom(10), keys...))
}

// Verify names ruled-out keys even if checking the rest would take too long, and even if the filter contains them
// without their last 8 bytes.
func TestVerifyNamesKeysBeforeALongRun(t *testing.T) {
	long.NoRace(t)
	key := "user\x00\x00\x00\x00\x00\x00\x00\x01"
	for name, held := range map[string]string{"denied": "other", "denied, but not its start": "user"} {
		var f rawtable.File
		h1 := f.Block(rawtable.Entries("m", "1", key, "2"))
		f.Bytes = append(f.Bytes, make([]byte, 2048-len(f.Bytes))...)
		h2 := f.Block(longRun(strings.Repeat("v", 1<<20), 5000))
		first := filterOfKeys("m", held)
		all := strings.Repeat("\xff", 8) + "\x06"
		block := f.Block(filterBlock(first+all, 11, 0, uint32(len(first))))
		metaindex := f.Block(rawtable.Entries(bloomName, block))
		in := inspect(t, name, f.Footer(metaindex, f.Block(rawtable.Entries("user\xff", h1, "w", h2))), nil, nil)
		for _, want := range []string{"over 320 times as long as the blocks", fmt.Sprintf("rules out 1 of 2 keys of the data block at 0: %q", key)} {
			checkError(t, name+": Verify", in.verified, nil, want)
		}
	}
}

// If a corrupt filter rules out a key, the error does not suggest a database's table, even if the filter contains
// the empty key, which is any 8-byte key without its last 8 bytes.
func TestDamageIsNoHint(t *testing.T) {
	contents := oneBlock(raw(rawtable.Entries("", "0", "key00001", "1", "key00012", "2")))
	contents = bytes.Replace(contents, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x06"), []byte(filterOfKeys("", "key00001")), 1)
	rawtable.Repair(contents)
	in := inspect(t, "8-byte keys", contents, nil, nil)
	checkError(t, "Verify", in.verified, table.ErrCorrupt, `data block at 0: "key00012"`)
}

// Many long names in the metaindex, for filters and with empty handles.
func TestMetaindexOfLongNames(t *testing.T) {
	long.NoRace(t)
	name := "filter." + strings.Repeat("a", 1<<20)
	for _, handle := range []string{"", rawtable.Handle(0, 1), rawtable.Handle(1<<40, 1)} {
		for _, n := range []int{900, 10_000} {
			b := []byte(rawtable.Entry(0, name, handle))
			for i := range n {
				b = append(b, rawtable.Entry(uint64(len(name)), string(binary.BigEndian.AppendUint32(nil, uint32(i))), handle)...)
			}
			p := sound()
			p.meta = func(string) string { return string(b) + rawtable.Restarts(0) }
			in := inspect(t, fmt.Sprintf("%d names of handle %x", n, handle), p.build(), nil, truthOf(soundPairs...))
			in.costsTimeOnly()
			checkError(t, in.name, in.verified, table.ErrCorrupt, "")
		}
	}
}

// zeros returns a Snappy block of a head, n zeros and an end.
func zeros(head string, n int, end string) stored {
	return stored{string(snappy.Encode(nil, append([]byte(head), string(make([]byte, n))+end...))), 1}
}

// The largest blocks that few bytes can decompress to, each read once.
func TestBlocksOfZeros(t *testing.T) {
	needsMemory(t)
	const n = 300 << 20
	var f rawtable.File
	meta := zeros(rawtable.Lengths(0, 9, n)+"rocksdb.x", n, rawtable.Restarts(0))
	metaindex := f.Stored(meta.contents, meta.id)
	inspect(t, "metaindex of an empty table", f.Footer(metaindex, f.Block(rawtable.Entries())), nil, nil)

	contents := oneBlock(zeros(rawtable.Lengths(0, 1, n)+"a", n, rawtable.Restarts(0)))
	inspect(t, "one value", contents, nil, nil)
	r := open(t, contents, nil)
	before := allocated()
	v, err := r.AppendGet(nil, []byte("a"))
	if got, most := allocated()-before, uint64(64<<20+32*len(contents)); err != nil || len(v) != n || got > most {
		t.Errorf("AppendGet = %d bytes, %v; allocated %d bytes, want at most %d", len(v), err, got, most)
	}
	before = allocated()
	values, err := getMany(r, slices.Repeat([][]byte{[]byte("a")}, 20), nil) // the values share memory
	if got, most := allocated()-before, uint64(64<<20+32*len(contents)); err != nil || len(values[19]) != n || got > most {
		t.Errorf("GetMany = %v; allocated %d bytes, want at most %d", err, got, most)
	}
}
