package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// FuzzReader reads arbitrary tables in every way: each operation fails or agrees with the others, and if Verify
// finds nothing, both directions agree. The fuzzer cannot compute checksums, so the test does.
func FuzzReader(f *testing.F) {
	long.NoRace(f)
	for _, contents := range golden.Small(f, goldenDir, 8<<10) {
		f.Add(contents, []byte("key"))
	}
	f.Add(sound().build(), []byte("b"))
	never, _, _ := withNever(f, 20, table.WriterOptions{})
	f.Add(never, []byte("key000002~"))
	prefixed := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterPrefix: filter.PrefixOfLength(8), BlockSize: 100}
	f.Add(build(f, prefixed, numbered(20)), []byte("key00002"))
	internalPairs := pairsOf(string(internalKey("a", 2, internalkey.Set)), string(internalKey("a", 1, internalkey.Delete)))
	f.Add(build(f, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Properties: true}, numbered(20)), []byte("key000002"))
	f.Add(build(f, &table.WriterOptions{Comparer: internalOrder, FilterKey: internalkey.UserKey, Properties: true}, internalPairs), []byte("a"))
	for _, tt := range damagedBlocks() {
		p := sound()
		p.data2 = tt.block
		f.Add(p.build(), []byte("c"))
	}
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		contents = bytes.Clone(contents) // since a fuzz target must not modify its input
		rawtable.Repair(contents)
		in := inspect(t, "fuzz", contents, nil, nil)
		if in.opened != nil {
			return
		}
		if (in.forward == nil) != (in.backward == nil) || in.verified == nil && in.forward != nil {
			t.Fatalf("forward: %v; backward: %v; Verify: %v", in.forward, in.backward, in.verified)
		}
		r := open(t, contents, nil)
		cached := open(t, contents, &table.ReaderOptions{Cache: table.NewCache(int64(len(key)) << 10)})
		checkLookup(t, r, key)
		checkLookup(t, cached, key)
		checkAsDatabase(t, contents, key)
		keys := [][]byte{key, key, nil}
		checkGetMany(t, "fuzz", r, keys, nil)
		checkGetMany(t, "fuzz, cached", cached, keys, nil)
		if in.forward != nil {
			return
		}
		there := forward(t, r.NewIter(nil))
		for way, got := range map[string][]workload.Pair{
			"with a cache":         forward(t, cached.NewIter(nil)),
			"with the cache again": forward(t, cached.NewIter(nil)),
			"read ahead":           forward(t, r.NewIter(&table.IterOptions{ReadAhead: 100 * len(key)})),
			"backward":             backward(t, r.NewIter(nil)),
		} {
			if diff := diffPairs(there, got); diff != "" {
				t.Fatalf("%s (-forward, block by block +got):\n%s", way, diff)
			}
		}
		if in.verified == nil {
			c := prefixCase{user: func(key []byte) []byte { return key }}
			if diff := diffPairs(c.among(there, key), c.among(forward(t, r.NewIter(&table.IterOptions{Prefix: key})), key)); diff != "" {
				t.Fatalf("Verify passes, but with the prefix (-want +got):\n%s", diff)
			}
		}
		for _, p := range there {
			keys = append(keys, p.Key)
			if _, err := r.Get(p.Key); err != nil && in.verified == nil {
				t.Fatalf("Verify passes, but Get(%q) = %v", p.Key, err)
			}
			checkLookup(t, r, p.Key)
			checkLookup(t, cached, p.Key)
		}
		checkGetMany(t, "fuzz", r, keys, &table.GetManyOptions{Gap: 100 * len(key)})
		checkGetMany(t, "fuzz, cached", cached, keys, nil)
	})
}

// checkAsDatabase reads the table as a database's, if it is in that order: Find must return a version of the key.
func checkAsDatabase(t *testing.T, contents, user []byte) {
	t.Helper()
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{Comparer: internalOrder, FilterKey: internalkey.UserKey})
	if err != nil {
		return
	}
	k, _, err := r.Find(internalkey.SearchKey(nil, user, internalkey.MaxSequence))
	if key, ok := internalkey.Parse(k); err == nil && (!ok || !bytes.Equal(key.UserKey, user)) {
		t.Errorf("Find of a version of %q = %q", user, k)
	}
	if p, err := r.Properties(); (p == nil) == (err == nil) {
		t.Errorf("Properties = %v, %v", p, err)
	}
}

// checkLookup compares Get with AppendGet, SeekGE and Find.
func checkLookup(t *testing.T, r *table.Reader, key []byte) {
	t.Helper()
	value, err := r.Get(key)
	if got, appendErr := r.AppendGet([]byte("dst "), key); string(got) != "dst "+string(value) || fmt.Sprint(appendErr) != fmt.Sprint(err) {
		t.Errorf("AppendGet(%q) = %q, %v, but Get = %q, %v", key, got, appendErr, value, err)
	}
	k, v, findErr := r.Find(key)
	if findErr == nil && (!bytes.Equal(k, key) || err == nil && !bytes.Equal(v, value)) {
		t.Errorf("Find(%q) = %q, %q, but Get = %q", key, k, v, value)
	}
	checkAppendFind(t, "fuzz", r.With(context.Background()), key, k, v, findErr)
	if !mayContain(r, key) && (!errors.Is(err, table.ErrNotFound) || !errors.Is(findErr, table.ErrNotFound)) {
		t.Errorf("MayContain(%q) = false, but Get = %v and Find = %v", key, err, findErr)
	}
	it := r.NewIter(nil)
	found := it.SeekGE(key) && bytes.Equal(it.Key(), key)
	if err == nil && it.Error() == nil && (!found || !bytes.Equal(it.Value(), value)) {
		t.Errorf("Get(%q) = %q, but SeekGE is at %q=%q", key, value, it.Key(), it.Value())
	}
}

// FuzzRoundTrip cuts the input into pairs, writes them to a table with any options, and reads them back. Writing
// them again gives the same bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("abcabcabdxyz"), uint8(3), uint16(16), uint8(2), uint8(10), true)
	f.Add([]byte(""), uint8(0), uint16(0), uint8(0), uint8(0), false)
	f.Add(bytes.Repeat([]byte("\x00\xff"), 100), uint8(7), uint16(1), uint8(1), uint8(40), true)
	f.Fuzz(func(t *testing.T, data []byte, width uint8, blockSize uint16, restart, bits uint8, compress bool) {
		o := &table.WriterOptions{
			BlockSize:       int(blockSize),
			RestartInterval: int(restart),
			FilterPolicy:    filter.NewBloom(int(bits)),
			FilterBaseLg:    int(bits % 31),
			Compression:     table.NoCompression,
		}
		if compress {
			o.Compression = table.Snappy
		}
		pairs := workload.Cut(data, 1+int(width%16))
		contents := build(t, o, pairs)
		r := open(t, contents, nil)
		checkTable(t, r, pairs)
		if !bytes.Equal(contents, build(t, o, forward(t, r.NewIter(nil)))) {
			t.Error("written again: other bytes")
		}
	})
}
