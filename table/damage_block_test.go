package table_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// claim is a Snappy block that says it decodes to n bytes, and holds one.
func claim(n uint64) stored {
	return stored{string(binary.AppendUvarint(nil, n)) + "\x00a", 1}
}

// damagedBlock stands in for the second data block of a table, the one of c and d.
// Whatever else it holds, it holds under these keys.
type damagedBlock struct {
	name  string
	block stored
	want  string
}

// damagedBlocks are what is malformed by itself, and what is wrong only in a table.
func damagedBlocks() []damagedBlock {
	var all []damagedBlock
	for _, b := range rawtable.MalformedBlocks {
		contents := raw(b.Contents)
		if b.Contents == "" {
			contents = stored{"\x00", 1} // of Snappy, since no handle has a length of 0
		}
		all = append(all, damagedBlock{b.Name, contents, b.Want})
	}
	return append(all, damagedInTable...)
}

var damagedInTable = []damagedBlock{
	// Order, across blocks.
	{"first key below the separator before", raw(rawtable.Entries("ab", "1", "d", "4")), `first key "ab", want it > the index's separator before, "b"`},
	{"first key equal to the separator before", raw(rawtable.Entries("b", "1", "d", "4")), `first key "b", want it > the index's separator before, "b"`},
	{"last key above the separator", raw(rawtable.Entries("c", "3", "f", "4")), `last key "f", want it ≤ the index's separator, "e"`},

	// Compression.
	{"unknown compression id", stored{rawtable.Entries("c", "3"), 7}, "compression id 7, want 0, 1 for Snappy, or the id of a Codec in the options"},
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

// The same blocks as index and metaindex.
func TestDamagedBlocksAsIndexAndMetaindex(t *testing.T) {
	for _, tt := range damagedBlocks() {
		if strings.Contains(tt.name, "separator") || strings.Contains(tt.name, "of compressed bytes") {
			continue // damage for a data block only
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
		contents := p.build()
		in = inspect(t, "metaindex: "+tt.name, contents, nil, truthOf(soundPairs...))
		if in.opened != nil || in.forward != nil || in.backward != nil || in.entries != 4 {
			t.Errorf("metaindex: %s: damage that costs more than time: %+v", tt.name, in)
			continue
		}
		checkLookups(t, open(t, contents, nil), soundPairs)
		for _, want := range []string{"metaindex block at 77: ", tt.want} {
			checkNames(t, "metaindex: "+tt.name, want, open(t, contents, nil).FilterErr(), in.verified)
		}
	}
}

// A block that is larger than MaxBlockSize is damage.
func TestMaxBlockSizeOnDamage(t *testing.T) {
	p := sound()
	p.data2 = raw(rawtable.Entries("c", strings.Repeat("3", 100)))
	o := &table.ReaderOptions{MaxBlockSize: 100}
	in := inspect(t, "stored", p.build(), o, truthOf(soundPairs...))
	in.reports("data block at 27: 112 bytes, want at most 100")
	p.data2 = stored{string(snappy.Encode(nil, []byte(p.data2.contents))), 1}
	in = inspect(t, "decoded", p.build(), o, truthOf(soundPairs...))
	in.reports("data block at 27: snappy: decodes to 112 bytes, want at most 100")
}
