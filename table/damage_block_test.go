package table_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// lengths is the head of an entry, of any three lengths.
func lengths(shared, unshared, value uint64) string {
	b := binary.AppendUvarint(nil, shared)
	b = binary.AppendUvarint(b, unshared)
	return string(binary.AppendUvarint(b, value))
}

// claim is a Snappy block that says it decodes to n bytes, and holds one.
func claim(n uint64) stored {
	return stored{string(binary.AppendUvarint(nil, n)) + "\x00a", 1}
}

// damagedBlocks stand in for the second data block of a table, the one of c and
// d. Whatever else they hold, they hold under these keys.
var damagedBlocks = []struct {
	name  string // and why it matters, where that is not plain
	block stored
	want  string
}{
	// Too small for a block. The smallest has a restart point and its count.
	{"decoded block of 1 byte", raw("\x00"), "block of 1 bytes, want at least 8"},
	{"decoded block of 2 bytes", raw("\x00\x00"), "block of 2 bytes"},
	{"decoded block of 3 bytes: the count itself is cut", raw("\x01\x00\x00"), "block of 3 bytes"},
	{"Snappy decoding to nothing: no buffer to look into", stored{"\x00", 1}, "block of 0 bytes"},
	{"Snappy decoding to 3 bytes", stored{string(snappy.Encode(nil, []byte("\x01\x00\x00"))), 1}, "block of 3 bytes"},

	// Restart points. Searches jump to them, so they must be where entries start.
	{"restart count 0: nowhere to start", raw("\x00\x01\x01c3" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"), "restart count at 9 is 0"},
	{"restart count one too big", raw(rawtable.Restarts(0)[:4] + "\x02\x00\x00\x00"), "restart count at 4 is 2, want 1 to 1"},
	{"restart count 2³²−1: its array would wrap", raw("\x00\x01\x01c3" + "\x00\x00\x00\x00" + "\xff\xff\xff\xff"), "restart count at 9 is 4294967295"},
	{"restart count 2³⁰: four times it wraps in 32 bits", raw("\x00\x01\x01c3" + "\x00\x00\x00\x00" + "\x00\x00\x00\x40"), "restart count at 9 is 1073741824"},
	{"first restart point is not 0", raw(entryC + rawtable.Restarts(5)), "restart point 0 is 5, want 0"},
	{"restart point at the end of the entries", raw(entryC + entryD + rawtable.Restarts(0, 10)), "restart point 1 is 10"},
	{"restart point in the array", raw(entryC + entryD + rawtable.Restarts(0, 14)), "restart point 1 is 14"},
	{"restart point 2³²−1: negative in 32 bits", raw(entryC + entryD + rawtable.Restarts(0, math.MaxUint32)), "restart point 1 is 4294967295"},
	{"restart points unsorted: a binary search goes astray", raw(entryC + entryD + rawtable.Entry(0, "e", "5") + rawtable.Restarts(0, 10, 5)), "restart point 2 is 5"},
	{"restart point inside an entry: its bytes can look like one", raw(rawtable.Entry(0, "c", entryD) + entryD + rawtable.Restarts(0, 4)), "restart point 1 is 4"},
	{"restart point twice", raw(entryC + entryD + rawtable.Restarts(0, 0)), "restart point 1 is 0"},
	{"restart points without entries", raw(rawtable.Restarts(0, 0)), "block of no entries"},

	// Shared lengths. A key is built on the one before.
	{"first entry shares", raw(rawtable.Entry(1, "c", "3") + rawtable.Restarts(0)), "entry at 0 shares 1 bytes at a restart point"},
	{"entry at a restart point shares", raw(entryC + rawtable.Entry(1, "d", "4") + rawtable.Restarts(0, 5)), "entry at 5 shares 1 bytes at a restart point"},
	{"shared length above the key before", raw(entryC + rawtable.Entry(2, "d", "4") + rawtable.Restarts(0)), "entry at 5 shares 2 bytes, but the key before it has 1"},
	{"shared length 2⁶³: negative", raw(entryC + rawtable.Entry(1<<63, "d", "4") + rawtable.Restarts(0)), "entry at 5 shares 9223372036854775808 bytes"},
	{"shared length 2⁶⁴−1: with the rest it wraps", raw(entryC + rawtable.Entry(math.MaxUint64, "dd", "4") + rawtable.Restarts(0)), "entry at 5 shares 18446744073709551615"},

	// Lengths of keys and values. Each must be compared with the bytes there.
	{"unshared length 2⁶²", raw(lengths(0, 1<<62, 1) + "c3" + rawtable.Restarts(0)), "key of 4611686018427387904 and value of 1 bytes, but 2 are left"},
	{"unshared length 2⁶³", raw(lengths(0, 1<<63, 1) + "c3" + rawtable.Restarts(0)), "key of 9223372036854775808"},
	{"value length 2⁶²", raw(lengths(0, 1, 1<<62) + "c3" + rawtable.Restarts(0)), "value of 4611686018427387904 bytes, but 2 are left"},
	{"value length 2⁶³", raw(lengths(0, 1, 1<<63) + "c3" + rawtable.Restarts(0)), "value of 9223372036854775808"},
	{"key and value lengths that wrap to 2 together", raw(lengths(0, math.MaxUint64, 3) + "c3" + rawtable.Restarts(0)), "key of 18446744073709551615 and value of 3"},
	{"key and value of 2⁶³ that wrap to 0 together", raw(lengths(0, 1<<63, 1<<63) + "c3" + rawtable.Restarts(0)), "key of 9223372036854775808"},
	{"key runs into the restart array", raw(lengths(0, 3, 0) + "c3" + rawtable.Restarts(0)), "key of 3 and value of 0 bytes, but 2 are left"},
	{"value runs into the restart array", raw(lengths(0, 1, 2) + "c3" + rawtable.Restarts(0)), "key of 1 and value of 2 bytes, but 2 are left"},

	// Varints.
	{"truncated varint: its end would be the restart array", raw("\x00\x01\x80" + rawtable.Restarts(0)), "entry at 0: want three lengths"},
	{"entry of two lengths", raw("\x00\x01" + rawtable.Restarts(0)), "entry at 0: want three lengths"},
	{"varint of eleven bytes", raw("\x00" + strings.Repeat("\x80", 10) + "\x01\x01c3" + rawtable.Restarts(0)), "entry at 0: want three lengths"},
	{"varint above 64 bits", raw("\x00" + strings.Repeat("\xff", 9) + "\x02\x01c3" + rawtable.Restarts(0)), "entry at 0: want three lengths"},
	{"varint that is not minimal: two readers may differ over it", raw("\x00\x81\x00\x01c3" + rawtable.Restarts(0)), "entry at 0: want three lengths"},

	// Order.
	{"keys out of order", raw(rawtable.Entries("d", "4", "c", "3")), `entry at 5 has key "c", want it above the one before, "d"`},
	{"keys out of order that share", raw(rawtable.Entry(0, "dd", "4") + rawtable.Entry(1, "c", "3") + rawtable.Restarts(0)), `entry at 6 has key "dc", want it above`},
	{"equal keys: which value?", raw(rawtable.Entries("c", "3", "c", "4")), `entry at 5 has key "c", want it above`},
	{"a key that is the start of the one before", raw(rawtable.Entry(0, "dd", "4") + rawtable.Entry(1, "", "3") + rawtable.Restarts(0)), `entry at 6 has key "d", want it above`},
	{"first key below the separator before", raw(rawtable.Entries("ab", "1", "d", "4")), `first key "ab", want above the index's separator before, "b"`},
	{"first key equal to the separator before", raw(rawtable.Entries("b", "1", "d", "4")), `first key "b", want above`},
	{"last key above the separator", raw(rawtable.Entries("c", "3", "f", "4")), `last key "f", want at most the index's separator "e"`},

	// Compression.
	{"unknown compression id", stored{entryC + rawtable.Restarts(0), 7}, "compression id 7, for which there is no codec"},
	{"Snappy of no bytes that decode", stored{"\xff\xff\xff", 1}, "data block at 27: snappy: corrupt input"},
	{"Snappy that claims 1 GiB", claim(1 << 30), "snappy: 7 bytes claim to decode to 1073741824"},
	{"Snappy that claims 4 GiB − 1", claim(1<<32 - 1), "snappy: decode"}, // "decodes to", or too large at all in 32 bits,
	{"Snappy that claims more than 32 bits", claim(1 << 32), "snappy: corrupt input"},
	{"Snappy that claims what it could hold, but does not", claim(44), "data block at 27: snappy: corrupt input"},
	{"a block behind which nothing is compressed, of compressed bytes", raw(string(snappy.Encode(nil, []byte(entryC+rawtable.Restarts(0))))), "data block at 27"},
}

const (
	entryC = "\x00\x01\x01c3"
	entryD = "\x00\x01\x01d4"
)

func TestDamagedDataBlocks(t *testing.T) {
	truth := truthOf(append(soundPairs,
		workload.Pair{Key: []byte("c"), Value: []byte(entryD)}, workload.Pair{Key: []byte("c"), Value: []byte("4")},
		workload.Pair{Key: []byte("dd"), Value: []byte("4")}, workload.Pair{Key: []byte("d"), Value: []byte("3")},
		workload.Pair{Key: []byte("e"), Value: []byte("5")})...)
	for _, tt := range damagedBlocks {
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
	for _, tt := range damagedBlocks {
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

// A block that is larger than the Reader is told to take.
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
