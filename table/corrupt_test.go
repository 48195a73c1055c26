package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// A rawTable is put together block by block, with right checksums, so that
// anything in it can be wrong.
type rawTable struct{ bytes []byte }

// block adds a block and returns its handle, encoded.
func (f *rawTable) block(contents string) string {
	h := handle(uint64(len(f.bytes)), uint64(len(contents)))
	f.bytes = append(append(f.bytes, contents...), 0)
	f.bytes = binary.LittleEndian.AppendUint32(f.bytes, crc.Block([]byte(contents), 0))
	return h
}

// footer ends the file.
func (f *rawTable) footer(metaindex, index string) []byte {
	b := append([]byte(metaindex+index), make([]byte, 40)...)[:40]
	return append(f.bytes, binary.LittleEndian.AppendUint64(b, 0xdb4775248b80fb57)...)
}

func handle(offset, length uint64) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, offset), length))
}

// entries returns a block of keys and values in turn, each a restart point.
func entries(keysAndValues ...string) string {
	var b []byte
	var restarts []byte
	for i := 0; i < len(keysAndValues); i += 2 {
		restarts = binary.LittleEndian.AppendUint32(restarts, uint32(len(b)))
		b = append(b, 0, byte(len(keysAndValues[i])), byte(len(keysAndValues[i+1])))
		b = append(append(b, keysAndValues[i]...), keysAndValues[i+1]...)
	}
	if restarts == nil {
		restarts = make([]byte, 4)
	}
	return string(binary.LittleEndian.AppendUint32(append(b, restarts...), uint32(len(restarts)/4)))
}

// twoBlocks is a sound table of keys a, b and c, d, whose parts each can be
// replaced.
type twoBlocks struct {
	data1, data2 string
	separators   [2]string
	handles      func(h1, h2 string) (string, string)
	filter       string // block; "": none
	meta         func(filter string) string
	footer       func(metaindex, index string) (string, string)
}

func (p twoBlocks) build() []byte {
	var f rawTable
	h1, h2 := f.block(p.data1), f.block(p.data2)
	if p.handles != nil {
		h1, h2 = p.handles(h1, h2)
	}
	meta := entries()
	if p.filter != "" {
		h := f.block(p.filter)
		meta = entries("filter.leveldb.BuiltinBloomFilter", h)
		if p.meta != nil {
			meta = p.meta(h)
		}
	}
	metaindex := f.block(meta)
	index := f.block(entries(p.separators[0], h1, p.separators[1], h2))
	if p.footer != nil {
		metaindex, index = p.footer(metaindex, index)
	}
	return f.footer(metaindex, index)
}

// sound is the table with nothing wrong.
func sound() twoBlocks {
	p := filter.NewBloom(10)
	g := p.NewGenerator()
	for _, k := range []string{"a", "b", "c", "d"} {
		g.Add([]byte(k))
	}
	var one filter.Bytes
	g.Generate(&one)
	return twoBlocks{
		data1: entries("a", "1", "b", "2"), data2: entries("c", "3", "d", "4"),
		separators: [2]string{"b", "e"},
		filter:     string(one) + "\x00\x00\x00\x00" + string([]byte{byte(len(one)), 0, 0, 0}) + "\x0b",
	}
}

var soundPairs = []workload.Pair{
	{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("b"), Value: []byte("2")},
	{Key: []byte("c"), Value: []byte("3")}, {Key: []byte("d"), Value: []byte("4")},
}

// verdict is what opening, iterating both ways and verifying say of a file.
type verdict struct{ open, forward, backward, verify error }

func judge(contents []byte) (v verdict) {
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		return verdict{err, err, err, err}
	}
	it := r.NewIter(nil)
	for ok := it.First(); ok; ok = it.Next() {
	}
	v.forward = it.Error()
	for ok := it.Last(); ok; ok = it.Prev() {
	}
	v.backward, v.verify = it.Error(), r.Verify()
	return v
}

func TestSoundRawTable(t *testing.T) {
	contents := sound().build()
	if v := judge(contents); v != (verdict{}) {
		t.Fatalf("%+v", v)
	}
	r := open(t, contents, nil)
	checkLookups(t, r, soundPairs)
	if err := r.FilterErr(); err != nil {
		t.Errorf("FilterErr = %v", err)
	}
}

// Damage to the index or the order: iteration and Verify report it.
func TestDamagedTables(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(p *twoBlocks)
		want   string
	}{
		{"data block without restart points", func(p *twoBlocks) { p.data2 = "\x00\x00\x00\x00\x00\x00\x00\x00" }, "data block at 27: restart count"},
		{"keys out of order in a block", func(p *twoBlocks) { p.data1 = entries("b", "1", "a", "2") }, "data block at 0: entry at 5"},
		{"key above its separator", func(p *twoBlocks) { p.data1 = entries("a", "1", "bb", "2") }, `data block at 0: last key "bb"`},
		{"key below the separator before", func(p *twoBlocks) { p.data2 = entries("ab", "1", "d", "2") }, `data block at 27: first key "ab"`},
		{"key equal to the separator before", func(p *twoBlocks) { p.data2 = entries("b", "1", "d", "2") }, `data block at 27: first key "b"`},
		{"separators out of order", func(p *twoBlocks) { p.separators = [2]string{"e", "b"} }, "index block at"},
		{"two separators for one block", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h1, h1 }
		}, "want it behind the one before"},
		{"blocks in the wrong order", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h2, h1 }
		}, "want it behind the one before"},
		{"no handle", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h1, "" }
		}, "not two minimal varints"},
		{"a handle with bytes behind it", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h1, h2 + "x" }
		}, "has 1 bytes behind it"},
		{"a handle past the end", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h1, handle(1<<40, 22) }
		}, "not within"},
		{"a handle of 2⁶³ bytes", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h1, handle(27, 1<<63) }
		}, "not within"},
		{"a handle whose end wraps", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h1, handle(27, math.MaxUint64-4) }
		}, "not within"},
		{"a handle that reaches into the next block", func(p *twoBlocks) {
			p.handles = func(h1, h2 string) (string, string) { return h1, handle(27, 40) }
		}, "data block at 27: checksum"},
		{"a data block that is the metaindex", func(p *twoBlocks) {
			p.filter = ""
			p.handles = func(h1, h2 string) (string, string) { return h1, handle(54, 8) }
		}, "overlaps the block at 54"},
		{"index and metaindex are one", func(p *twoBlocks) {
			p.footer = func(m, i string) (string, string) { return i, i }
		}, "overlaps metaindex"},
		{"handles of no bytes", func(p *twoBlocks) {
			p.footer = func(m, i string) (string, string) { return handle(0, 0), handle(0, 0) }
		}, "checksum"},
		{"padding that is not zeros", func(p *twoBlocks) {
			p.footer = func(m, i string) (string, string) { return m, i + "x" }
		}, "footer at"},
		{"a footer that ends in a handle", func(p *twoBlocks) {
			p.footer = func(m, i string) (string, string) { return strings.Repeat("\xff", 40), "" }
		}, "footer at"},
	} {
		p := sound()
		tt.damage(&p)
		v := judge(p.build())
		for i, err := range []error{v.forward, v.backward, v.verify} {
			if !errors.Is(err, table.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("%s: %s = %v, want ErrCorrupt with %q", tt.name, [...]string{"forward", "backward", "Verify"}[i], err, tt.want)
			}
		}
	}
}

// Damage to the filter costs time only: every key is found, and FilterErr and
// Verify report it.
func TestDamagedFilters(t *testing.T) {
	good := sound().filter
	for _, tt := range []struct {
		name   string
		damage func(p *twoBlocks)
		want   string
	}{
		{"too short", func(p *twoBlocks) { p.filter = "\x00\x00\x00\x00" }, "filter block at 54: filter block of 4 bytes"},
		{"offsets beyond the block", func(p *twoBlocks) { p.filter = "\xff\xff\xff\xff\x0b" }, "filter offsets start at"},
		{"base lg 31", func(p *twoBlocks) { p.filter = good[:len(good)-1] + "\x1f" }, "base lg is 31"},
		{"k is 0", func(p *twoBlocks) { p.filter = good[:8] + "\x00" + good[9:] }, "k = 0"},
		{"one-byte filter", func(p *twoBlocks) { p.filter = "\x06\x00\x00\x00\x00\x01\x00\x00\x00\x0b" }, "Bloom filter of 1 bytes"},
		{"handle past the end", func(p *twoBlocks) {
			p.meta = func(h string) string { return entries("filter.leveldb.BuiltinBloomFilter", handle(1<<40, 5)) }
		}, "metaindex block at"},
		{"handle of a data block", func(p *twoBlocks) {
			p.meta = func(h string) string { return entries("filter.leveldb.BuiltinBloomFilter", handle(0, 22)) }
		}, "filter block at 0: overlaps"},
		{"handle of the metaindex", func(p *twoBlocks) {
			p.meta = func(h string) string { return entries("filter.leveldb.BuiltinBloomFilter", handle(78, 50)) }
		}, "filter block at 78: overlaps"},
		{"handle of the index", func(p *twoBlocks) {
			p.meta = func(h string) string { return entries("filter.leveldb.BuiltinBloomFilter", handle(140, 5)) }
		}, "filter block at 140: overlaps"},
		{"metaindex out of order", func(p *twoBlocks) {
			p.meta = func(h string) string {
				return entries("filter.leveldb.BuiltinBloomFilter2", h, "filter.leveldb.BuiltinBloomFilter", h)
			}
		}, "metaindex block at"},
		{"one name twice", func(p *twoBlocks) {
			p.meta = func(h string) string {
				return entries("filter.leveldb.BuiltinBloomFilter", h, "filter.leveldb.BuiltinBloomFilter", h)
			}
		}, "metaindex block at"},
	} {
		p := sound()
		tt.damage(&p)
		contents := p.build()
		r := open(t, contents, nil)
		for i, err := range []error{r.FilterErr(), r.Verify()} {
			if !errors.Is(err, table.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("%s: %s = %v, want ErrCorrupt with %q", tt.name, [...]string{"FilterErr", "Verify"}[i], err, tt.want)
			}
		}
		checkLookups(t, r, soundPairs)
	}
}

// A filter that is sound but lacks keys, under a right checksum, cannot be told
// on a lookup. Verify names each key that it denies.
func TestVerifyNamesDeniedKeys(t *testing.T) {
	p := sound()
	p.filter = strings.Repeat("\x00", 8) + "\x06" + p.filter[9:]
	err := open(t, p.build(), nil).Verify()
	for _, k := range []string{"a", "b", "c", "d"} {
		if want := fmt.Sprintf("filter block at 54: denies key %q", k); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("Verify = %v, want it with %s", err, want)
		}
	}
}

// Where only some of the denied keys are in the filter without their last 8
// bytes, the table is no database's.
func TestVerifyNamesDeniedKeysOfAnyLength(t *testing.T) {
	pairs := []workload.Pair{{Key: internal("aa", 2)}, {Key: []byte("b")}}
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(20), FilterKey: func(key []byte) []byte {
		return key[:len(key)/9*2] // aa, and the empty key
	}}, pairs)
	err := open(t, contents, nil).Verify()
	if !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), `denies key "b"`) || !strings.Contains(err.Error(), `denies key "aa`) {
		t.Errorf("Verify = %v, want both keys", err)
	}
}

// Verify reads the filter that the Reader was told to ignore, and the one that
// it knows no policy for.
func TestVerifyLooksAtEveryFilter(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    table.ReaderOptions
	}{
		{"leveldb.BuiltinBloomFilter", table.ReaderOptions{}},
		{"leveldb.BuiltinBloomFilter", table.ReaderOptions{IgnoreFilter: true}},
		{"unknown", table.ReaderOptions{}},
	} {
		p := filter.Rename(filter.NewBloom(10), tt.name)
		contents := build(t, &table.WriterOptions{FilterPolicy: p, Compression: table.NoCompression}, pairsOf("a"))
		if err := open(t, contents, &tt.o).Verify(); err != nil {
			t.Errorf("%s, %+v: Verify of a sound table = %v", tt.name, tt.o, err)
		}
		contents[30] ^= 1 // in the filter block, which follows 28 bytes
		if err := open(t, contents, &tt.o).Verify(); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "filter block at") {
			t.Errorf("%s, %+v: Verify = %v, want the damaged filter block", tt.name, tt.o, err)
		}
	}
}

// Verify asks every filter that the table lists, whichever the Reader uses, and
// looks at the checksum of every other block.
func TestVerifyLooksAtEveryMetaBlock(t *testing.T) {
	empty := strings.Repeat("\x00", 8) + "\x06" + "\x00\x00\x00\x00\x09\x00\x00\x00\x0b"
	for _, tt := range []struct {
		name   string
		other  string // another block's name in the metaindex
		block  string
		damage bool
		want   string
	}{
		{"a second filter that is sound", "filter.leveldb.BuiltinBloomFilter2", sound().filter, false, ""},
		{"a second filter that lacks the keys", "filter.leveldb.BuiltinBloomFilter2", empty, false, `filter block at 77: denies key "a"`},
		{"another block, sound", "some.properties", "anything", false, ""},
		{"another block, damaged", "some.properties", "anything", true, "meta block at 77: checksum mismatch"},
	} {
		var f rawTable
		p := sound()
		h1, h2 := f.block(p.data1), f.block(p.data2)
		first := f.block(p.filter)
		other := f.block(tt.block)
		if tt.damage {
			f.bytes[77] ^= 1
		}
		metaindex := f.block(entries("filter.leveldb.BuiltinBloomFilter", first, tt.other, other))
		contents := f.footer(metaindex, f.block(entries("b", h1, "e", h2)))
		err := open(t, contents, nil).Verify()
		if tt.want == "" && err != nil || tt.want != "" && !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: Verify = %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A compressed block's claim to be huge is refused before memory is taken.
func TestSnappyClaims(t *testing.T) {
	for _, tt := range []struct {
		claim uint64
		want  string
	}{
		{1 << 20, "claim to decode to 1048576"},
		{1 << 30, "claim to decode to 1073741824"},
		{1<<32 - 1, "decodes to 4294967295 bytes, want at most"},
	} {
		src := append(binary.AppendUvarint(nil, tt.claim), "\x00a"...)
		before := allocated()
		_, err := table.Snappy.Decode(nil, src, 1<<30)
		if got := allocated() - before; got > 1<<20 {
			t.Errorf("a claim of %d bytes allocated %d", tt.claim, got)
		}
		if strconv.IntSize > 32 && !strings.Contains(fmt.Sprint(err), tt.want) || err == nil {
			t.Errorf("a claim of %d bytes = %v, want an error with %q", tt.claim, err, tt.want)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// sharingIndex is a table of n empty data blocks, whose separators are a prefix
// of that length and a number, and share it in the index.
func sharingIndex(t *testing.T, prefix, n int) []byte {
	t.Helper()
	var f rawTable
	w, err := block.NewWriter(1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.Append(fmt.Appendf(nil, "%0*d", prefix+4, i), []byte(f.block(entries()))); err != nil {
			t.Fatal(err)
		}
	}
	metaindex := f.block(entries())
	return f.footer(metaindex, f.block(string(w.Finish())))
}

// An index may share key bytes, though those of the known engines do not. Where
// few bytes make very long separators, there is a bound.
func TestIndexThatShares(t *testing.T) {
	for _, prefix := range []int{0, 20, 40, 1000} {
		if err := open(t, sharingIndex(t, prefix, 64), nil).Verify(); err != nil {
			t.Errorf("a prefix of %d bytes: Verify = %v", prefix, err)
		}
	}
	contents := sharingIndex(t, 100_000, 200)
	_, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "separators that take far more") {
		t.Errorf("a prefix of 100,000 bytes: NewReader = %v, want ErrCorrupt", err)
	}
}

// A damaged filter that goes by two names is one finding.
func TestVerifyReportsAFilterOnce(t *testing.T) {
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression}, pairsOf("a"))
	contents[30] ^= 1 // in the filter block, which follows 28 bytes
	err := open(t, contents, nil).Verify()
	if n := strings.Count(fmt.Sprint(err), "filter block at"); n != 1 {
		t.Errorf("Verify = %v, want one finding", err)
	}
}

// Verify goes on after damage, and reports all of it.
func TestVerifyReportsEveryPart(t *testing.T) {
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: 1}, pairsOf("a", "b", "c"))
	contents[0] ^= 1
	contents[2*(len("aavalue of ")+3+8+5)] ^= 1
	err := open(t, contents, nil).Verify()
	if n := strings.Count(fmt.Sprint(err), "checksum mismatch"); n != 2 {
		t.Errorf("Verify = %v, want two checksum mismatches", err)
	}
	var c *table.CorruptionError
	if !errors.As(err, &c) || c.Block != "data block" || c.Offset != 0 {
		t.Errorf("the first is %+v, want the data block at 0", c)
	}
}

// With SkipChecksums a block is taken as it is, but Verify looks all the same.
func TestSkipChecksums(t *testing.T) {
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairsOf("a"))
	contents[bytes.IndexByte(contents, 'v')] = 'V'
	if _, err := open(t, contents, nil).Get([]byte("a")); !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Get = %v, want ErrCorrupt", err)
	}
	r := open(t, contents, &table.ReaderOptions{SkipChecksums: true})
	if v, err := r.Get([]byte("a")); err != nil || string(v) != "Value of a" {
		t.Errorf("Get with SkipChecksums = %q, %v", v, err)
	}
	if err := r.Verify(); !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Verify with SkipChecksums = %v, want ErrCorrupt", err)
	}
}

// Every byte of small tables, changed: an error, or true pairs.
func TestEveryByteChanged(t *testing.T) {
	pairs := numbered(20)
	for name, o := range map[string]*table.WriterOptions{
		"raw":      {Compression: table.NoCompression, BlockSize: 200},
		"snappy":   {BlockSize: 200},
		"filtered": {Compression: table.NoCompression, BlockSize: 200, FilterPolicy: filter.NewBloom(10)},
	} {
		contents := build(t, o, pairs)
		for i := range contents {
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				damaged := bytes.Clone(contents)
				damaged[i] ^= flip
				checkErrorOrTruth(t, fmt.Sprintf("%s: byte %d ^ %#x", name, i, flip), damaged, pairs)
			}
		}
		for n := range contents {
			checkErrorOrTruth(t, fmt.Sprintf("%s: cut to %d bytes", name, n), contents[:n], pairs)
		}
	}
}

func checkErrorOrTruth(t *testing.T, name string, contents []byte, pairs []workload.Pair) {
	t.Helper()
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		if !errors.Is(err, table.ErrCorrupt) {
			t.Fatalf("%s: NewReader = %v, want ErrCorrupt", name, err)
		}
		return
	}
	if err := r.Verify(); !errors.Is(err, table.ErrCorrupt) {
		t.Fatalf("%s: Verify = %v, want ErrCorrupt", name, err)
	}
	for _, p := range pairs {
		if v, err := r.Get(p.Key); err == nil && !bytes.Equal(v, p.Value) || err != nil && !errors.Is(err, table.ErrCorrupt) {
			t.Fatalf("%s: Get(%q) = %q, %v", name, p.Key, v, err)
		}
	}
	it := r.NewIter(nil)
	i := 0
	for k, v := range it.All() {
		if i == len(pairs) || !bytes.Equal(k, pairs[i].Key) || !bytes.Equal(v, pairs[i].Value) {
			t.Fatalf("%s: entry %d is %q=%q", name, i, k, v)
		}
		i++
	}
	if err := it.Error(); err == nil && i < len(pairs) || err != nil && !errors.Is(err, table.ErrCorrupt) {
		t.Fatalf("%s: %d entries, then %v", name, i, err)
	}
}
