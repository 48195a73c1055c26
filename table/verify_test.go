package table_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// checkFindings checks that each line of Verify's error begins as expected.
func checkFindings(t *testing.T, name string, err error, wants ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(textOf(err), "table: "), "\ntable: ")
	if err == nil {
		lines = nil
	}
	if !slices.EqualFunc(lines, wants, strings.HasPrefix) {
		t.Errorf("%s: Verify = %v, want findings %q", name, err, wants)
	}
}

// flipped returns contents with one bit flipped in each byte at these offsets.
func flipped(contents []byte, at ...int) []byte {
	for _, i := range at {
		contents[i] ^= 1
	}
	return contents
}

// filteredBy returns a table of the key a. Its data block has 27 bytes, and its filter follows.
func filteredBy(t *testing.T, p filter.Policy) []byte {
	return build(t, &table.WriterOptions{FilterPolicy: p, Compression: table.NoCompression}, pairsOf("a"))
}

// withMeta returns the sound table with another meta block, at 77.
func withMeta(name, block string) []byte {
	var f rawtable.File
	p := sound()
	h1, h2 := f.Block(p.data1.contents), f.Block(p.data2.contents)
	metaindex := f.Block(rawtable.Entries(bloomName, f.Block(p.filter), name, f.Block(block)))
	return f.Footer(metaindex, f.Block(rawtable.Entries("b", h1, "e", h2)))
}

// Verify reports every corrupt part once. It reads all filters and meta blocks, whichever the Reader uses. A
// well-formed filter that lacks keys, under a valid checksum, is not noticed by lookups: Verify names each key that
// it rules out.
func TestVerifyReportsAllDamage(t *testing.T) {
	t.Parallel()
	const (
		noKeys = "\x00\x00\x00\x00\x00\x00\x00\x00\x06"
		second = "filter.leveldb.BuiltinBloomFilter2"

		deniesAB = `rules out 2 of 2 keys of the data block at 0: "a", "b"`
		deniesCD = `rules out 2 of 2 keys of the data block at 27: "c", "d"`
		badSum   = "filter block at 27: checksum mismatch"
	)
	ignored := &table.ReaderOptions{IgnoreFilter: true}
	one := filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter")
	unknown := filter.Rename(filter.NewBloom(10), "unknown")
	anyLength := table.WriterOptions{FilterPolicy: filter.NewBloom(20), FilterKey: func(key []byte) []byte {
		return key[:len(key)/9*2] // aa, and the empty key: not user keys of a database
	}}
	database := table.WriterOptions{Comparer: internalOrder, TableFilterPolicy: filter.NewTableBloom(16)}
	whole := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Compression: table.NoCompression}, numbered(10))
	at := bytes.Index(whole, []byte("\x06\x01\x00\x00\x00")) - 64
	clear(whole[at : at+64])
	rawtable.Repair(whole)
	for _, tt := range []struct {
		name     string
		contents []byte
		o        *table.ReaderOptions
		want     []string
	}{
		{"several blocks", flipped(build(t, &table.WriterOptions{FilterPolicy: one, BlockSize: 1}, pairsOf("a", "b", "c")), 0, 54), nil,
			[]string{"data block at 0: checksum mismatch", "data block at 54: checksum mismatch"}},
		{"a filter", flipped(filteredBy(t, one), 30), nil, []string{badSum}},
		{"a filter of two names", flipped(filteredBy(t, filter.NewBloom(10)), 30), nil, []string{badSum}},
		{"a filter that is ignored", flipped(filteredBy(t, one), 30), ignored, []string{badSum}},
		{"an ignored filter, sound", filteredBy(t, one), ignored, nil},
		{"a filter of an unknown policy", flipped(filteredBy(t, unknown), 30), nil, []string{badSum}},
		{"a filter of an unknown policy, sound", filteredBy(t, unknown), nil, nil},
		{"a filter without keys", soundBut(filterOf(filterBlock(noKeys, 11, 0))), nil,
			[]string{"filter block at 54: " + deniesAB, "filter block at 54: " + deniesCD}},
		{"an empty slot: its blocks have no keys", soundBut(filterOf(filterBlock(sound().filter[:9], 4, 0, 9))), nil, // 16 bytes of the file each
			[]string{"filter block at 54: " + deniesCD}},
		{"some keys without their last 8 bytes", build(t, &anyLength, []workload.Pair{{Key: internalKey("aa", 2, internalkey.Set)}, {Key: []byte("b")}}), nil,
			[]string{`filter block at 30: rules out 2 of 2 keys of the data block at 0: "aa\x01\x02\x00\x00\x00\x00\x00\x00", "b"`}},
		{"a FilterKey of whole keys, not of user keys", build(t, &database, internalPairs("ada")), &table.ReaderOptions{Comparer: internalOrder, FilterKey: wholeKey},
			[]string{"table filter block at 33: rules out keys, but contains them without their last 8 bytes"}},
		{"a table filter without keys", whole, nil,
			[]string{fmt.Sprintf(`table filter block at %d: rules out 10 of 10 keys of the data block at 0: "key000000", "key000002", "key000004", …`, at)}},
		{"a second filter without keys", withMeta(second, filterBlock(noKeys, 11, 0)), nil,
			[]string{"filter block at 77: " + deniesAB, "filter block at 77: " + deniesCD}},
		{"a second filter, sound", withMeta(second, sound().filter), nil, nil},
		{"another meta block", flipped(withMeta("some.properties", "anything"), 77), nil, []string{"meta block at 77: checksum mismatch"}},
		{"another meta block, sound", withMeta("some.properties", "anything"), nil, nil},
	} {
		checkFindings(t, tt.name, open(t, tt.contents, tt.o).Verify(), tt.want...)
	}
}

// onlyA is a policy whose filters contain only the key a.
type onlyA struct{ filter.Policy }

func (onlyA) Name() string                       { return "z.onlyA" }
func (onlyA) Contains(_ []byte, key []byte) bool { return string(key) == "a" }

// One filter can be listed under the names of several policies. Verify uses the same policy as lookups.
func TestVerifyAsksThePolicyOfLookups(t *testing.T) {
	t.Parallel()
	contents := soundBut(func(p *twoBlocks) {
		p.meta = func(h string) string { return rawtable.Entries(bloomName, h, "filter.z.onlyA", h) }
	})
	r := open(t, contents, &table.ReaderOptions{FilterPolicies: []filter.Policy{onlyA{filter.NewBloom(10)}}})
	if _, err := r.Get([]byte("b")); err != table.ErrNotFound {
		t.Fatalf("Get = %v, want the filter to deny the key", err)
	}
	checkError(t, "Verify", r.Verify(), table.ErrCorrupt, "rules out 1 of 2 keys")
}

// With SkipChecksums, lookups do not compare checksums, but Verify does. Readers that compare checksums share no
// blocks with such a Reader.
func TestSkipChecksums(t *testing.T) {
	t.Parallel()
	contents := filteredBy(t, nil)
	contents[bytes.IndexByte(contents, 'v')] = 'V'
	o := table.ReaderOptions{Cache: table.NewCache(1 << 20), CacheKey: "same", SkipChecksums: true}
	r := open(t, contents, &o)
	checkGet(t, r, []byte("a"), []byte("Value of a"))
	checkError(t, "Verify with SkipChecksums", r.Verify(), table.ErrCorrupt, "data block at 0: checksum mismatch")
	o.SkipChecksums = false
	checkError(t, "Get", errorOf(open(t, contents, &o).Get([]byte("a"))), table.ErrCorrupt, "data block at 0: checksum mismatch")
}

// Verify reads each byte of a table once, and many data blocks per read.
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
		r := newReader(t, src, len(contents), nil)
		callsBefore, bytesBefore := src.n.Load(), src.bytes.Load()
		noError(t, r.Verify())
		calls, read := src.n.Load()-callsBefore, src.bytes.Load()-bytesBefore
		if size := int64(len(contents)); read > size+100 || calls > 10+size/(200<<10) {
			t.Errorf("%s: %d bytes by %d reads of a table of %d bytes", name, read, calls, size)
		}
	}
}

// A caller can get the keys that Verify checks, and learns whether keys of corrupt blocks are missing.
func TestVerifiedKeys(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a", "b", "c", "d", "e")
	contents := build(t, &table.WriterOptions{BlockSize: 1, Compression: table.NoCompression}, pairs)
	type result struct {
		Keys         string
		All, Damaged bool
	}
	damaged := flipped(bytes.Clone(contents), bytes.IndexByte(contents, 'c'))
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
		var got result
		var err error
		got.All, err = open(t, tt.contents, nil).VerifyKeys(func(key []byte, _, _ uint64) { got.Keys += string(key) })
		if got.Damaged = err != nil; got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, tt.want)
		}
	}
}

// Close ends a Verify that is running.
func TestCloseEndsVerify(t *testing.T) {
	t.Parallel()
	r := open(t, build(t, &table.WriterOptions{BlockSize: 1}, pairsOf("a", "b", "c")), nil)
	var seen string
	_, err := r.VerifyKeys(func(key []byte, _, _ uint64) {
		seen += string(key)
		r.Close()
	})
	if err != table.ErrClosed || seen != "a" {
		t.Errorf("VerifyKeys = %v after keys %s, want ErrClosed after a", err, seen)
	}
}
