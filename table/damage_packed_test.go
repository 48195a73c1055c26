package table_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// A packing is a table whose blocks are Snappy-compressed runs of one byte, which take 22 times
// their size in the file. Each number is the MiB of such a run, decompressed.
type packing struct {
	separators []int // of data blocks, before the one of the first data block
	keys       []int // of the keys of data blocks, one each
	values     []int // of data blocks, one each
	filter     int
	tableBloom int
	metaName   int  // of a name in the metaindex
	comparer   int  // of the comparer's name in the properties
	property   int  // of another property
	share      bool // each key is followed by one that shares it
	noData     bool
	twice      bool // the filter of the table is listed as the properties too
}

// build returns the table.
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
		c, n, v := string(rune('j'+i)), 0, 0
		if i < len(p.keys) {
			n = p.keys[i]
		}
		if i < len(p.values) {
			v = p.values[i]
		}
		key := c + run(c, n)
		entries := rawtable.Entry(0, key, run("v", v))
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
	at := packed(rawtable.Entries(metaindex...))
	return f.Footer(at, packed(rawtable.Entries(index...)))
}

// Whatever is compressed in a table, opening it, each lookup and Verify take no more memory than
// is promised, also with TailSum.
func TestPackedTables(t *testing.T) {
	needsMemory(t)
	all := []packing{
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
	for _, p := range all {
		contents := p.build()
		if in := inspect(t, fmt.Sprintf("%+v of %d bytes", p, len(contents)), contents, nil, nil); in.opened != nil {
			t.Errorf("%s: NewReader = %v", in.name, in.opened)
		}
		known := new(table.ReaderOptions)
		known.TailSum, _ = tailSum(t, contents)
		if in := inspect(t, fmt.Sprintf("%+v of %d bytes, with TailSum", p, len(contents)), contents, known, nil); in.opened != nil {
			t.Errorf("%s: NewReader = %v", in.name, in.opened)
		}
	}
}
