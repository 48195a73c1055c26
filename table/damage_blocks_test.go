package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// claim returns a Snappy block that claims to decode to n bytes, and contains one.
func claim(n uint64) stored {
	return stored{string(binary.AppendUvarint(nil, n)) + "\x00a", 1}
}

// damagedBlock replaces the second data block of a table, with the keys c and d. Its other entries are between these
// keys.
type damagedBlock struct {
	name  string
	block stored
	want  string
}

// damagedBlocks returns blocks that are malformed by themselves, and blocks that are wrong only in a table.
func damagedBlocks() []damagedBlock {
	var all []damagedBlock
	for _, b := range rawtable.MalformedBlocks {
		contents := raw(b.Contents)
		if b.Contents == "" {
			contents = stored{"\x00", 1} // compressed, since no handle has a length of 0
		}
		all = append(all, damagedBlock{b.Name, contents, b.Want})
	}
	return append(all, damagedInTable...)
}

var damagedInTable = []damagedBlock{
	// Order, across blocks.
	{"first key below the separator before", raw(rawtable.Entries("ab", "1", "d", "4")), `first key "ab" is not greater than the separator before, "b"`},
	{"first key equal to the separator before", raw(rawtable.Entries("b", "1", "d", "4")), `first key "b" is not greater than the separator before, "b"`},
	{"last key above the separator", raw(rawtable.Entries("c", "3", "f", "4")), `key "f" is greater than its separator, "e"`},

	// Compression.
	{"unknown compression id", stored{rawtable.Entries("c", "3"), 7}, "unknown compression id 7: not 0, 1 (Snappy), or the id of a Codec in the options"},
	{"Snappy of no bytes that decode", stored{"\xff\xff\xff", 1}, "data block at 27: snappy: corrupt input"},
	{"Snappy that claims 1 GiB", claim(1 << 30), "snappy: 7 bytes claim to decode to 1073741824"},
	{"Snappy that claims 4 GiB − 1", claim(1<<32 - 1), "snappy: decode"}, // "decodes to", or too large at all in 32 bits,
	{"Snappy that claims more than 32 bits", claim(1 << 32), "snappy: corrupt input"},
	{"Snappy that claims what it could hold, but does not", claim(44), "data block at 27: snappy: corrupt input"},
	{"a block behind which nothing is compressed, of compressed bytes", raw(string(snappy.Encode(nil, []byte(rawtable.Entries("c", "3"))))), "data block at 27"},
	{"Snappy decoding to 3 bytes", stored{string(snappy.Encode(nil, []byte("\x01\x00\x00"))), 1}, "block of 3 bytes"},
}

func TestDamagedDataBlocks(t *testing.T) {
	pairs := slices.Clone(soundPairs)
	for p := range slices.Chunk(rawtable.MalformedPairs, 2) {
		pairs = append(pairs, workload.Pair{Key: []byte(p[0]), Value: []byte(p[1])})
	}
	truth := truthOf(pairs...)
	for _, tt := range damagedBlocks() {
		p := sound()
		p.data2 = tt.block
		in := inspect(t, tt.name, p.build(), nil, truth)
		if in.opened != nil {
			t.Errorf("%s: NewReader = %v, want nil: no data block is read", tt.name, in.opened)
		}
		in.reports("data block at 27: ")
		in.reports(tt.want)
	}
}

// No lookup in a corrupt block, or in another block of the table that a disk has written in its place, returns
// ErrNotFound.
func TestLookupsInADamagedBlock(t *testing.T) {
	key := func(n byte) string { return string([]byte{'k', n}) }
	all := func(from, to byte) (pairs []string) {
		for n := from; n < to; n++ {
			pairs = append(pairs, key(n), "v")
		}
		return pairs
	}
	first, second := raw(rawtable.Entries(all(0, 40)...)), raw(rawtable.Entries(all(40, 80)...))
	for name, blocks := range map[string][2]stored{
		"an entry that shares too much": {first, raw(rawtable.Entry(1, key(40), "v") + rawtable.Restarts(0))},
		"the block before":              {first, first},
		"the block after":               {second, second},
		"both exchanged":                {second, first},
	} {
		contents := soundBut(func(p *twoBlocks) {
			p.data1, p.data2, p.separators, p.filter = blocks[0], blocks[1], [2]string{key(39), key(79)}, ""
		})
		for way, get := range lookups {
			for _, o := range []*table.ReaderOptions{nil, {Comparer: otherComparer{table.BytewiseComparer}}} {
				r, failed := open(t, contents, o), 0
				for n := range byte(80) {
					_, err := get(r, []byte(key(n)))
					if err == nil {
						continue
					}
					checkError(t, name+": "+way, err, table.ErrCorrupt, "data block at ")
					failed++
				}
				if failed < 40 {
					t.Errorf("%s: %s: %d of 40 lookups in a damaged block fail", name, way, failed)
				}
			}
		}
	}
}

// The same blocks in place of index and metaindex.
func TestDamagedBlocksAsIndexAndMetaindex(t *testing.T) {
	for _, tt := range damagedBlocks() {
		if strings.Contains(tt.name, "separator") || strings.Contains(tt.name, "of compressed bytes") {
			continue // wrong only as a data block
		}
		p := sound()
		p.index = func(h1, h2 string) stored { return tt.block }
		in := inspect(t, "index: "+tt.name, p.build(), nil, truthOf(soundPairs...))
		if in.opened == nil {
			t.Errorf("index: %s: NewReader reports nothing", tt.name)
		}
		in.reports("index block at 128: ")

		if tt.block.id != 0 {
			continue
		}
		p = sound()
		p.meta = func(h string) string { return tt.block.contents }
		in = inspect(t, "metaindex: "+tt.name, p.build(), nil, truthOf(soundPairs...))
		r := in.costsTimeOnly()
		for _, want := range []string{"metaindex block at 77: ", tt.want} {
			checkNames(t, "metaindex: "+tt.name, want, r.FilterErr(), in.verified)
		}
	}
}

// A block larger than MaxBlockSize is reported as corrupt.
func TestMaxBlockSizeOnDamage(t *testing.T) {
	p := sound()
	p.data2 = raw(rawtable.Entries("c", strings.Repeat("3", 100)))
	o := &table.ReaderOptions{MaxBlockSize: 100}
	in := inspect(t, "stored", p.build(), o, truthOf(soundPairs...))
	in.reports("data block at 27: 112 bytes exceed the limit of 100")
	p.data2 = stored{string(snappy.Encode(nil, []byte(p.data2.contents))), 1}
	in = inspect(t, "decoded", p.build(), o, truthOf(soundPairs...))
	in.reports("data block at 27: snappy: decodes to 112 bytes, more than the limit of 100")
}

// A packing is a table whose blocks are Snappy-compressed runs of one byte, which decompress to 22 times their size
// in the file. Each number is the decompressed size of a run in MiB.
type packing struct {
	separators []int // of data blocks, before the first data block's
	keys       []int // of the keys of data blocks, one each
	values     []int // of data blocks, one each
	filter     int
	tableBloom int
	metaName   int  // of a name in the metaindex
	comparer   int  // of the comparer's name in the properties
	property   int  // of another property
	share      bool // each key is followed by a key that shares its bytes
	noData     bool
	twice      bool // the filter of the table is listed as the properties too
}

func (p packing) build() []byte {
	var f rawtable.File
	packed := func(contents string) string { return f.Stored(string(snappy.Encode(nil, []byte(contents))), 1) }
	run := func(c string, mib int) string { return strings.Repeat(c, mib<<20) }
	var index, metaindex []string
	for i, n := range p.separators {
		c := string(rune('b' + i))
		index = append(index, run(c, n)+c, f.Block(rawtable.Entries(c, "")))
	}
	for i := range max(len(p.keys), len(p.values)) {
		c := string(rune('j' + i))
		key := c + run(c, sizeAt(p.keys, i))
		entries := rawtable.Entry(0, key, run("v", sizeAt(p.values, i)))
		if p.share {
			entries += rawtable.Entry(uint64(len(key)), "x", "")
		}
		index = append(index, c+"z", packed(entries+rawtable.Restarts(0)))
	}
	add := func(name, block string) { metaindex = append(metaindex, name, block) }
	if p.filter > 0 {
		add(bloomName, packed(run("\xff", p.filter)+"\x06"+rawtable.Restarts(uint32(p.filter<<20 + 1))[:4]+"\x1e"))
	}
	if p.tableBloom > 0 {
		lines := uint32(p.tableBloom << 14)
		h := packed(run("\xff", p.tableBloom) + "\x06" + rawtable.Restarts(lines)[:4])
		add("fullfilter.rocksdb.BuiltinBloomFilter", h)
		if p.twice {
			add("rocksdb.properties", h)
		}
	}
	if p.comparer+p.property > 0 {
		add("rocksdb.properties", packed(rawtable.Entries("rocksdb.comparator", run("c", p.comparer), "rocksdb.other", run("o", p.property))))
	}
	if p.metaName > 0 {
		add("rocksdb.z"+run("z", p.metaName), f.Block("anything"))
	}
	if p.noData {
		index = nil
	}
	meta := packed(rawtable.Entries(metaindex...))
	return f.Footer(meta, packed(rawtable.Entries(index...)))
}

// sizeAt returns the number at i, or 0 after the last one.
func sizeAt(numbers []int, i int) int {
	if i < len(numbers) {
		return numbers[i]
	}
	return 0
}

// For any compressed table, opening it, each lookup and Verify take no more memory than documented, even with
// TailSum.
func TestPackedTables(t *testing.T) {
	if testing.Short() || long.Race {
		t.Skip("takes too much memory or time")
	}
	all := []packing{
		{property: 130, noData: true}, // Verify reads the properties of such a table twice
		{separators: []int{200}},
		{separators: []int{60, 70, 80}},
		{separators: []int{100}, filter: 50, metaName: 50},
		{comparer: 200, noData: true},
		{property: 200, noData: true},
		{comparer: 100, property: 100},
		{keys: []int{100, 110}},
		{values: []int{100, 110}},
		{keys: []int{60, 62}, values: []int{30, 40}, share: true},
		{keys: []int{30, 31, 62}, share: true},
		{keys: []int{1, 2, 4, 8, 16, 32, 64, 128}},
		{tableBloom: 100, filter: 100},
		{metaName: 200},
		{tableBloom: 300, noData: true, twice: true},
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	some := func(n int) (mib []int) {
		for range rnd.IntN(n) {
			mib = append(mib, rnd.IntN(60))
		}
		return mib
	}
	for range 12 {
		all = append(all, packing{
			separators: some(4), keys: some(4), values: some(4), filter: rnd.IntN(2) * rnd.IntN(60), tableBloom: rnd.IntN(2) * rnd.IntN(60),
			metaName: rnd.IntN(2) * rnd.IntN(60), comparer: rnd.IntN(2) * rnd.IntN(60), property: rnd.IntN(2) * rnd.IntN(60), noData: rnd.IntN(4) == 0, share: rnd.IntN(2) == 0,
		})
	}
	for _, p := range all[:long.Rounds(1, len(all))] {
		contents := p.build()
		options := map[string]*table.ReaderOptions{"": nil}
		if sum, _, err := layoutOf(t, contents).TailSum(); err == nil { // else the names in the metaindex are too long
			options[", with TailSum"] = &table.ReaderOptions{TailSum: sum}
		}
		for name, o := range options {
			if in := inspect(t, fmt.Sprintf("%+v of %d bytes%s", p, len(contents), name), contents, o, nil); in.opened != nil {
				t.Errorf("%s: NewReader = %v", in.name, in.opened)
			}
		}
	}
}

// mappedFile is the file for mapped. Creating one takes as long as all tests of a small table.
var mappedFile = sync.OnceValues(func() (*os.File, error) {
	f, err := os.CreateTemp("", "")
	if err == nil {
		os.Remove(f.Name()) // Windows does not remove it while it is open
	}
	return f, err
})

// mapped returns a source of contents in a mapped file, or in memory if the system cannot map it. It is valid until
// the next call with other contents.
func mapped(t testing.TB, contents []byte) io.ReaderAt {
	t.Helper()
	f, err := mappedFile()
	if err == nil {
		err = f.Truncate(int64(len(contents)))
	}
	if err == nil {
		_, err = f.WriteAt(contents, 0)
	}
	noError(t, err)
	if m := tablefile.Map(f, int64(len(contents))); m != nil {
		return m
	}
	return table.Bytes(contents)
}

// answers returns a Reader's results for keys, and a checksum of the entries that an Iter returns before an error.
// If the Reader could not be opened, all results are that error.
func answers(r *table.Reader, err error) (all []string) {
	keys := [][]byte{nil, []byte("a"), []byte("aa"), []byte("b"), []byte("c"), []byte("d"), []byte("zz"), []byte("key000002")}
	sum, opened := crc32.NewIEEE(), err
	get := func([]byte) ([]byte, error) { return nil, opened }
	if r != nil {
		defer r.Close()
		get = r.Get
		it := r.NewIter(nil)
		for n := 0; it.Next() && n < 2000; n++ {
			fmt.Fprintf(sum, "%d %d ", len(it.Key()), len(it.Value()))
			sum.Write(it.Key())
			sum.Write(it.Value())
			if n < 40 && len(it.Key()) < 1000 {
				keys = append(keys, slices.Clone(it.Key()))
			}
		}
		err = it.Close()
	}
	all = append(all, fmt.Sprintf("entries of checksum %#x, %v", sum.Sum32(), kindOf(err)))
	for _, key := range keys {
		value, err := get(key)
		sum := crc32.ChecksumIEEE(value)
		all = append(all, fmt.Sprintf("Get(%.100q): %d bytes of checksum %#x, %v", key, len(value), sum, kindOf(err)))
	}
	return all
}

// kindOf returns the error that a program can test for.
func kindOf(err error) error {
	for _, kind := range []error{table.ErrNotFound, table.ErrFilterOnly, table.ErrCorrupt} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

// sameInAnotherForm compares the results for a table with those for the same table in memory, mapped, or with a
// search tree. The table's bytes choose one form, so that tests of many tables cover all.
func (in *inspection) sameInAnotherForm() {
	in.t.Helper()
	form, size := crc32.ChecksumIEEE(in.contents)%4, int64(len(in.contents))
	var src io.ReaderAt = table.Bytes(in.contents)
	switch form {
	case 0:
		src = bytes.NewReader(in.contents)
	case 1, 2:
		src = mapped(in.t, in.contents)
	}
	want := answers(table.NewReader(bytes.NewReader(in.contents), size, in.o))
	r, err := table.NewReader(src, size, in.o)
	if err == nil && form < 2 {
		r.BuildIndex()
	}
	checkDiff(in.t, fmt.Sprintf("%s: from a %T, index built: %t", in.name, src, form < 2), want, answers(r, err))
}
