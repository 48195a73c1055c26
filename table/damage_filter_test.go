package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// checkNames checks that FilterErr and Verify report the fault.
func checkNames(t *testing.T, name, want string, filterErr, verify error) {
	t.Helper()
	checkError(t, name+": FilterErr", filterErr, table.ErrCorrupt, want)
	checkError(t, name+": Verify", verify, table.ErrCorrupt, want)
}

// filterBlock returns a filter block of the given filters and offsets.
func filterBlock(filters string, baseLg byte, offsets ...uint32) string {
	b := []byte(filters)
	for _, o := range append(offsets, uint32(len(filters))) {
		b = binary.LittleEndian.AppendUint32(b, o)
	}
	return string(append(b, baseLg))
}

// metaOf replaces the metaindex's entries, given as alternating names and handles.
func metaOf(keysAndValues ...string) func(p *twoBlocks) {
	return func(p *twoBlocks) {
		p.meta = func(h string) string { return rawtable.Entries(keysAndValues...) }
	}
}

// filterOf replaces the filter block.
func filterOf(block string) func(p *twoBlocks) {
	return func(p *twoBlocks) { p.filter = block }
}

// With a corrupt filter, every operation has the same results as without a filter, and FilterErr and Verify report
// the fault.
func TestDamagedFilters(t *testing.T) {
	good := sound().filter[:9] // eight bytes of bits, and k
	const other = "filter.leveldb.BuiltinBloomFilter2"
	for _, tt := range []struct {
		name   string
		damage func(p *twoBlocks)
		want   string
	}{
		// Too small for a filter block. The smallest has an offset and base lg.
		{"filter block of 0 bytes", metaOf(bloomName, rawtable.Handle(54, 0)), "metaindex block at 77: handle of 0 bytes at 54"},
		{"filter block of 1 byte", filterOf("\x0b"), "filter block at 54: filter: filter block of 1 bytes is too short (minimum 5)"},
		{"filter block of 2 bytes", filterOf("\x00\x0b"), "filter block of 2 bytes"},
		{"filter block of 3 bytes", filterOf("\x00\x00\x0b"), "filter block of 3 bytes"},
		{"filter block of 4 bytes", filterOf("\x00\x00\x00\x00"), "filter block of 4 bytes"},

		// The offset array.
		{"offset array beyond the block", filterOf(good + "\x00\x00\x00\x00" + "\x0e\x00\x00\x00\x0b"), "filter offsets at [14, 13): not a whole number of 4-byte offsets"},
		{"offset array at 2³²−1", filterOf(good + "\x00\x00\x00\x00" + "\xff\xff\xff\xff\x0b"), "filter offsets at [4294967295, "},
		{"offset array that is not whole", filterOf(good + "\x00\x00\x00" + "\x09\x00\x00\x00\x0b"), "filter offsets at [9, 12): not a whole number of 4-byte offsets"},
		{"offset array unaligned to its end", filterOf(good + "\x00\x00\x00\x00" + "\x0a\x00\x00\x00\x0b"), "filter offsets at [10, 13): not a whole"},

		// Slots. A slot that ends before it starts must not be sliced.
		{"a slot with start above its limit", filterOf(filterBlock(good, 11, 9, 0)), "filter 0 is at [9, 0)"},
		{"a slot whose limit is beyond the filters", filterOf(good + "\x00\x00\x00\x00\x0d\x00\x00\x00" + "\x09\x00\x00\x00\x0b"), "filter 0 is at [0, 13): out of order, or outside the 9 bytes of filters"},
		{"a slot that starts beyond the filters", filterOf(filterBlock(good, 11, 10)), "filter 0 is at [10, 9)"},
		{"a slot from 2³²−1", filterOf(filterBlock(good, 11, math.MaxUint32)), "filter 0 is at [4294967295, 9)"},
		{"an empty slot beyond the filters: damage, not absence", filterOf(filterBlock(good, 11, 99, 99)), "filter 0 is at [99, 99): out of order, or outside the 9 bytes of filters"},
		{"a later slot is damaged", filterOf(filterBlock(good, 11, 0, 9, 99)), "filter 1 is at [9, 99)"},

		// A shift by 64 or more is 0 in Go and anything in C++.
		{"base lg 31", filterOf(filterBlock(good, 31, 0)), "filter block at 54: filter: base lg is 31 (maximum 30)"},
		{"base lg 64", filterOf(filterBlock(good, 64, 0)), "filter block at 54: filter: base lg is 64 (maximum 30)"},
		{"base lg 255", filterOf(filterBlock(good, 255, 0)), "filter block at 54: filter: base lg is 255 (maximum 30)"},

		// The filters.
		{"filter of one byte: engines read it as absence", filterOf(filterBlock("\x06", 11, 0)), "filter block at 54: filter: Bloom filter of 1 bytes is too short (minimum 9), in filter 0 of the block"},
		{"filter of two bytes", filterOf(filterBlock("\xff\x06", 11, 0)), "Bloom filter of 2 bytes"},
		{"filter of eight bytes", filterOf(filterBlock(good[1:], 11, 0)), "Bloom filter of 8 bytes"},
		{"k is 0: no bit is tested", filterOf(filterBlock(good[:8]+"\x00", 11, 0)), "Bloom filter with k = 0"},

		// The metaindex. Two blocks of one name, or a block of another kind.
		{"one name twice", func(p *twoBlocks) {
			p.meta = func(h string) string { return rawtable.Entries(bloomName, h, bloomName, h) }
		}, `metaindex block at 77: entry at 38 has key "filter.leveldb.BuiltinBloomFilter", which is not greater than the key before`},
		{"names out of order", func(p *twoBlocks) {
			p.meta = func(h string) string { return rawtable.Entries(other, h, bloomName, h) }
		}, `metaindex block at 77: entry at 39 has key "filter.leveldb.BuiltinBloomFilter", which is not greater than the key before`},
		{"no handle", metaOf(bloomName, ""), "metaindex block at 77: handle  is not two minimal varints"},
		{"a handle past the end", metaOf(bloomName, rawtable.Handle(1<<40, 5)), "metaindex block at 77: handle of 5 bytes at 1099511627776 is not within"},
		{"a handle of 2⁶⁴−5 bytes", metaOf(bloomName, rawtable.Handle(54, math.MaxUint64-4)), "metaindex block at 77: handle of 18446744073709551611 bytes"},
		{"the handle of the first data block", metaOf(bloomName, rawtable.Handle(0, 22)), "filter block at 0: overlaps another block"},
		{"a handle into the last data block", metaOf(bloomName, rawtable.Handle(53, 9)), "filter block at 53: overlaps another block"},
		{"the handle of the metaindex itself", metaOf(bloomName, rawtable.Handle(77, 46)), "filter block at 77: overlaps another block"},
		{"the handle of the index", metaOf(bloomName, rawtable.Handle(128, 24)), "filter block at 128: overlaps another block"},
		{"two filters in one block", func(p *twoBlocks) {
			p.meta = func(h string) string {
				return rawtable.Entries(bloomName, h, "fullfilter.rocksdb.BuiltinBloomFilter", h)
			}
		}, "table filter block at 54: overlaps the filter block at 54"},
		{"a handle into the filter", metaOf(bloomName, rawtable.Handle(55, 17)), "filter block at 55: checksum mismatch"},
		{"Snappy that is none", endOf(func(file []byte) []byte {
			file[54+18] = 1
			rawtable.Repair(file)
			return file
		}), "filter block at 54: snappy: "},
	} {
		in := inspect(t, tt.name, soundBut(tt.damage), nil, truthOf(soundPairs...))
		err := in.costsTimeOnly().FilterErr()
		if inOneFilter := strings.Contains(tt.want, "filter 0") || strings.Contains(tt.want, "filter 1 ") || strings.Contains(tt.want, "Bloom filter"); !inOneFilter {
			checkError(t, tt.name+": FilterErr", err, table.ErrCorrupt, tt.want)
		} else if err != nil {
			t.Errorf("%s: FilterErr = %v, though the damage is in one filter, which Verify finds", tt.name, err)
		}
		checkError(t, tt.name+": Verify", in.verified, table.ErrCorrupt, tt.want)
	}
}

// k above 30 is reserved for future filters: such a filter may contain any key, and is not corrupt.
func TestFilterOfAReservedKMayContainAnyKey(t *testing.T) {
	t.Parallel()
	for k := 31; k <= 255; k++ {
		r := open(t, soundBut(filterOf(filterBlock(sound().filter[:8]+string([]byte{byte(k)}), 11, 0))), nil)
		checkSound(t, fmt.Sprint("k = ", k), r)
		checkLookups(t, r, soundPairs)
	}
}

// The index has a wrong handle for one of many data blocks, which is noticed when the block is looked up. The handle
// would select another block's filter, so that filter must not rule out any key.
func TestBlockThatCannotBeFoundIsNotDenied(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	for i := range pairs {
		pairs[i].Value = make([]byte, 3000) // so that each block has a filter of its own
	}
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(20), BlockSize: 1, Compression: table.NoCompression}, pairs)
	layout := layoutOf(t, contents)
	handle := func(i int) []byte {
		h := layout.Data[i].Handle
		return []byte(rawtable.Handle(h.Offset, h.Length))
	}
	const wrong = 50
	index := contents[layout.Index.Offset:][:layout.Index.Length]
	if len(handle(wrong)) != len(handle(wrong-1)) || bytes.Count(index, handle(wrong)) != 1 {
		t.Fatal("the handle of the block cannot be replaced")
	}
	copy(index[bytes.Index(index, handle(wrong)):], handle(wrong-1))
	rawtable.Repair(contents)
	r := open(t, contents, nil)
	for i, p := range pairs {
		if _, err := r.Get(p.Key); errors.Is(err, table.ErrCorrupt) != (i == wrong) || errors.Is(err, table.ErrNotFound) {
			t.Errorf("Get(%q) = %v; want ErrCorrupt for key %d only", p.Key, err, wrong)
		}
		if !mayContain(r, p.Key) {
			t.Errorf("MayContain(%q) is false", p.Key)
		}
	}
}

// absentKeys yields n keys that numbered pairs do not have, each after one that they have.
func absentKeys(n int) iter.Seq2[[]byte, error] {
	var keys [][]byte
	for _, p := range numbered(n) {
		keys = append(keys, append(p.Key, '~'))
	}
	return neverOf(keys...)
}

// withNever returns a table of n keys whose filter has many exceptions, and the handle of their block.
func withNever(t testing.TB, n int, o table.WriterOptions) (contents []byte, keys []workload.Pair, h layout.Handle) {
	t.Helper()
	o.TableFilterPolicy, o.Never = filter.NewTableBloom(1), absentKeys(10*n)
	for _, p := range numbered(n) {
		keys = append(keys, workload.Pair{Key: p.Key})
	}
	contents = build(t, &o, keys)
	h = open(t, contents, nil).Filters().NeverEntry.Handle
	if h.Length == 0 {
		t.Fatal("the table has no exceptions")
	}
	return contents, keys, h
}

// Corrupt exceptions are reported and not used. If the block is sound but has wrong keys, Verify reports them.
func TestFaultsOfExceptions(t *testing.T) {
	t.Parallel()
	bloom := filtertest.BuildTable(t, filter.NewTableBloom(10), "a", "b", "c")
	for _, tt := range []struct {
		name, block string
		handle      func(never, filter string) string // of the exceptions, if not the block's
		want        string
		unused      bool // FilterErr reports it too
	}{
		{"a key of the table", rawtable.Entries("b", ""), nil, "rules out 1 of 3 keys of the data block at 0: \"b\"", false},
		{"of another filter", rawtable.Entries("x", "", "y", ""), nil, `2 of 2 keys are not in the table filter block at 63, such as "x"`, false},
		{"out of order", rawtable.Entries("y", "", "x", ""), nil, "exceptions block at", true},
		{"no block", "\x00", nil, "block of 1 bytes", true},
		{"in the filter", rawtable.Entries("x", ""), func(_, filter string) string { return filter }, "overlaps the", true},
		{"under a wrong checksum", rawtable.Entries("a", ""), func(never, _ string) string {
			return never[:len(never)-1] + string([]byte{never[len(never)-1] - 1}) // a byte less
		}, "exceptions block at 137: checksum mismatch", true},
	} {
		var f rawtable.File
		data := f.Block(rawtable.Entries("a", "value of a", "b", "value of b", "c", "value of c"))
		whole := f.Block(string(bloom))
		never := f.Block(tt.block)
		if tt.handle != nil {
			never = tt.handle(never, whole)
		}
		meta := f.Block(rawtable.Entries("fullfilter.rocksdb.BuiltinBloomFilter", whole, "sievetable.never", never))
		r := open(t, f.Footer(meta, f.Block(rawtable.Entries("c", data))), nil)
		checkError(t, tt.name+": Verify", r.Verify(), table.ErrCorrupt, tt.want)
		if err := r.FilterErr(); errors.Is(err, table.ErrCorrupt) != tt.unused || (r.Filters().Never == nil) != tt.unused {
			t.Errorf("%s: FilterErr = %v, and %d exceptions are used", tt.name, err, r.Filters().Never.Len())
		}
		if !mayContain(r, []byte("a")) {
			t.Errorf("%s: MayContain(a) = false", tt.name)
		}
	}
}

// If exceptions rule out one of the first keys, a Reader from Open uses no filter.
func TestExceptionsThatDenyTheFirstKeyAreNotTrusted(t *testing.T) {
	t.Parallel()
	contents, _, _ := withNever(t, 30, table.WriterOptions{})
	r := openFile(t, contents, &table.ReaderOptions{FilterKey: func(key []byte) []byte { return append(bytes.Clone(key), '~') }})
	if _, err := r.Get([]byte("key000000")); err != nil {
		t.Errorf("Get with a FilterKey of other keys = %v", err)
	}
	if f := r.Filters(); f.Never != nil || f.Table != nil || r.FilterErr() == nil {
		t.Errorf("the filters are used: %+v, %v", f, r.FilterErr())
	}
}

// FilterErr joins the reasons for all filters in one list.
func TestFilterErrJoinsAllReasons(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}
	contents := build(t, &o, numbered(10))
	m, err := layoutOf(t, contents).Meta()
	noError(t, err)
	for _, e := range m {
		contents[e.Offset] = 0xff - e.Name[0] // the block filter is listed twice
	}
	var blocks []layout.BlockKind
	for _, err := range open(t, contents, nil).FilterErr().(interface{ Unwrap() []error }).Unwrap() {
		var c *table.CorruptionError
		if errors.As(err, &c) {
			blocks = append(blocks, c.Block)
		}
	}
	checkDiff(t, "damaged blocks", []layout.BlockKind{layout.FilterBlock, layout.TableFilterBlock}, blocks)
}
