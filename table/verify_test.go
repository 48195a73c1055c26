package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/verified"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// A filter that is sound but lacks keys, under a right checksum, cannot be told
// on a lookup. Verify names each key that it rules out.
func TestVerifyNamesDeniedKeys(t *testing.T) {
	t.Parallel()
	p := sound()
	p.filter = strings.Repeat("\x00", 8) + "\x06" + p.filter[9:]
	err := open(t, p.build(), nil).Verify()
	want := `table: filter block at 54: rules out 2 of 2 keys of the data block at 0: "a", "b"
table: filter block at 54: rules out 2 of 2 keys of the data block at 27: "c", "d"`
	if diff := cmp.Diff(want, textOf(err)); diff != "" {
		t.Errorf("Verify (-want +got):\n%s", diff)
	}
}

// Where only some of the denied keys are in the filter without their last 8
// bytes, the table is no database's.
func TestVerifyNamesDeniedKeysOfAnyLength(t *testing.T) {
	t.Parallel()
	pairs := []workload.Pair{{Key: internal("aa", 2)}, {Key: []byte("b")}}
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(20), FilterKey: func(key []byte) []byte {
		return key[:len(key)/9*2] // aa, and the empty key
	}}, pairs)
	err := open(t, contents, nil).Verify()
	if !errors.Is(err, table.ErrCorrupt) || !strings.Contains(textOf(err), `at 0: "aa\x01\x02\x00\x00\x00\x00\x00\x00", "b"`) {
		t.Errorf("Verify = %v, want both keys", err)
	}
}

// Verify reads the filter that the Reader was told to ignore, and the one that
// it knows no policy for.
func TestVerifyLooksAtEveryFilter(t *testing.T) {
	t.Parallel()
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
		if err := open(t, contents, &tt.o).Verify(); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(textOf(err), "filter block at") {
			t.Errorf("%s, %+v: Verify = %v, want the damaged filter block", tt.name, tt.o, err)
		}
	}
}

// onlyA is a policy whose filters have the key a only.
type onlyA struct{ filter.Policy }

func (onlyA) Name() string                       { return "z.onlyA" }
func (onlyA) Contains(_ []byte, key []byte) bool { return string(key) == "a" }

// One filter can be listed under the names of several policies. Verify asks the policy that lookups
// ask.
func TestVerifyAsksThePolicyOfLookups(t *testing.T) {
	t.Parallel()
	p := sound()
	p.meta = func(h string) string { return rawtable.Entries(bloomName, h, "filter.z.onlyA", h) }
	r := open(t, p.build(), &table.ReaderOptions{FilterPolicies: []filter.Policy{onlyA{filter.NewBloom(10)}}})
	if _, err := r.Get([]byte("b")); err != table.ErrNotFound {
		t.Fatalf("Get = %v, want the filter to deny the key", err)
	}
	if err := r.Verify(); err == nil || !strings.Contains(err.Error(), "rules out 1 of 2 keys") {
		t.Errorf("Verify = %v, want the keys that are denied", err)
	}
}

// Verify asks every filter that the table lists, whichever the Reader uses, and
// looks at the checksum of every other block.
func TestVerifyLooksAtEveryMetaBlock(t *testing.T) {
	t.Parallel()
	empty := strings.Repeat("\x00", 8) + "\x06" + "\x00\x00\x00\x00\x09\x00\x00\x00\x0b"
	for _, tt := range []struct {
		name   string
		other  string // another block's name in the metaindex
		block  string
		damage bool
		want   string
	}{
		{"a second filter that is sound", "filter.leveldb.BuiltinBloomFilter2", sound().filter, false, ""},
		{"a second filter that lacks the keys", "filter.leveldb.BuiltinBloomFilter2", empty, false, `filter block at 77: rules out 2 of 2 keys of the data block at 0: "a", "b"`},
		{"another block, sound", "some.properties", "anything", false, ""},
		{"another block, damaged", "some.properties", "anything", true, "meta block at 77: checksum mismatch"},
	} {
		var f rawtable.File
		p := sound()
		h1, h2 := f.Block(p.data1.contents), f.Block(p.data2.contents)
		first := f.Block(p.filter)
		other := f.Block(tt.block)
		if tt.damage {
			f.Bytes[77] ^= 1
		}
		metaindex := f.Block(rawtable.Entries(bloomName, first, tt.other, other))
		contents := f.Footer(metaindex, f.Block(rawtable.Entries("b", h1, "e", h2)))
		err := open(t, contents, nil).Verify()
		if tt.want == "" && err != nil || tt.want != "" && !strings.Contains(textOf(err), tt.want) {
			t.Errorf("%s: Verify = %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A damaged filter that goes by two names is one finding.
func TestVerifyReportsAFilterOnce(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression}, pairsOf("a"))
	contents[30] ^= 1 // in the filter block, which follows 28 bytes
	err := open(t, contents, nil).Verify()
	if n := strings.Count(fmt.Sprint(err), "filter block at"); n != 1 {
		t.Errorf("Verify = %v, want one finding", err)
	}
}

// Verify goes on after damage, and reports all of it.
func TestVerifyReportsEveryPart(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// Verify reads each byte of a table once, and many data blocks at a time.
func TestVerifyReadsOnce(t *testing.T) {
	t.Parallel()
	pairs := w1Pairs(20_000)
	for name, o := range map[string]*table.WriterOptions{
		"plain":        {Compression: table.NoCompression},
		"both filters": {FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), DataDigest: true, Properties: true},
		"large blocks": {Compression: table.NoCompression, BlockSize: 300 << 10},
	} {
		contents := build(t, o, pairs)
		src := &countingReader{ReaderAt: bytes.NewReader(contents)}
		r, err := table.NewReader(src, int64(len(contents)), nil)
		noError(t, err)
		callsBefore, bytesBefore := src.n.Load(), src.bytes.Load()
		noError(t, r.Verify())
		calls, read := src.n.Load()-callsBefore, src.bytes.Load()-bytesBefore
		if size := int64(len(contents)); read > size+100 || calls > 10+size/(200<<10) {
			t.Errorf("%s: %d bytes by %d reads of a table of %d bytes", name, read, calls, size)
		}
	}
}

// Who asks for them gets the keys that Verify checks, and is told whether those of damaged blocks are missing.
func TestVerifiedKeys(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a", "b", "c", "d", "e")
	contents := build(t, &table.WriterOptions{BlockSize: 1, Compression: table.NoCompression}, pairs)
	keysOf := func(contents []byte) (keys string, all bool, err error) {
		all, err = verified.Verify(open(t, contents, nil), func(key []byte, _, _ uint64) { keys += string(key) })
		return keys, all, err
	}
	type result struct {
		Keys         string
		All, Damaged bool
	}
	damaged := bytes.Clone(contents)
	damaged[bytes.IndexByte(damaged, 'c')] ^= 1
	for name, tt := range map[string]struct {
		contents []byte
		want     result
	}{
		"sound":   {contents, result{"abcde", true, false}},
		"damaged": {damaged, result{"abde", false, true}},
		"empty":   {build(t, nil, nil), result{"", true, false}},
		"filter only": {build(t, &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}, []workload.Pair{{Key: []byte("a")}}),
			result{"", false, false}},
	} {
		keys, all, err := keysOf(tt.contents)
		if diff := cmp.Diff(tt.want, result{keys, all, err != nil}); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
