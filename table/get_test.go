package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

var withBloom = &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}

// counts are a Metrics' values.
type counts struct{ Lookups, Questions, Negatives, FalsePositives, Blocks, Bytes uint64 }

func countsOf(m *table.Metrics) counts {
	return counts{
		m.Lookups.Load(), m.FilterQuestions.Load(), m.FilterNegatives.Load(),
		m.FilterFalsePositives.Load(), m.DataBlocks.Load(), m.BytesRead.Load(),
	}
}

// What the library is for: an absent key costs a data block only when the
// filter errs, and what the Metrics say of it is what the source sees.
func TestFilterSparesReads(t *testing.T) {
	set := workload.W1(20_000)
	var pairs []workload.Pair
	for i, k := range set.Keys {
		pairs = append(pairs, workload.Pair{Key: k, Value: set.Values[i]})
	}
	contents := build(t, withBloom, pairs)
	for _, ignore := range []bool{false, true} {
		var m table.Metrics
		src := &countingReader{ReaderAt: bytes.NewReader(contents)}
		r, err := table.NewReader(src, int64(len(contents)), &table.ReaderOptions{Metrics: &m, IgnoreFilter: ignore})
		if err != nil {
			t.Fatal(err)
		}
		atOpen := src.n.Load()
		for _, k := range set.Absent {
			if _, err := r.Get(k); !errors.Is(err, table.ErrNotFound) {
				t.Fatalf("Get(%q) = %v, want ErrNotFound", k, err)
			}
		}
		c := countsOf(&m)
		if got := uint64(src.n.Load() - atOpen); got != c.Blocks {
			t.Errorf("%d reads of the source, but DataBlocks = %d", got, c.Blocks)
		}
		perLookup := float64(c.Blocks) / float64(c.Lookups)
		switch {
		case ignore && (perLookup < 0.99 || c.Questions != 0):
			t.Errorf("filter ignored: %.4f blocks per lookup, %d questions; want about 1 and none", perLookup, c.Questions)
		case !ignore && (perLookup > 0.02 || c.Questions != c.Negatives+c.FalsePositives || c.FalsePositives != c.Blocks):
			t.Errorf("%.4f blocks per absent key, want at most 0.02; %+v", perLookup, c)
		}
	}
}

func TestMetrics(t *testing.T) {
	var m table.Metrics
	contents := build(t, withBloom, numbered(1000))
	r := open(t, contents, &table.ReaderOptions{Metrics: &m})
	if diff := cmp.Diff(counts{}, countsOf(&m)); diff != "" {
		t.Errorf("after opening (-want +got):\n%s", diff)
	}
	if _, err := r.Get([]byte("key000010")); err != nil {
		t.Fatal(err)
	}
	c := countsOf(&m)
	if c.Bytes == 0 || c.Bytes > 4200 {
		t.Errorf("%d bytes read for one block", c.Bytes)
	}
	c.Bytes = 0
	if diff := cmp.Diff(counts{Lookups: 1, Questions: 1, Blocks: 1}, c); diff != "" {
		t.Errorf("after a hit (-want +got):\n%s", diff)
	}
	if _, err := r.Get([]byte("zzz")); !errors.Is(err, table.ErrNotFound) {
		t.Fatal(err)
	}
	if got := countsOf(&m); got.Lookups != 2 || got.Questions != 1 {
		t.Errorf("after a key above the last separator: %+v; want 2 lookups, 1 question", got)
	}
	forward(t, r.NewIter(nil))
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
	if got := m.BytesRead.Load() - c.Bytes; int64(got) > int64(2*len(contents)) || m.DataBlocks.Load() < 5 {
		t.Errorf("after a scan: %+v", countsOf(&m))
	}
}

// alwaysPolicy claims to contain every key, so that all that is asked of
// absent keys are false positives.
type alwaysPolicy struct{ filter.Policy }

func (alwaysPolicy) Name() string                     { return "test.Always" }
func (alwaysPolicy) Contains(filter, key []byte) bool { return true }

func TestFalsePositivesAreCounted(t *testing.T) {
	p := alwaysPolicy{filter.NewBloom(10)}
	var m table.Metrics
	r := open(t, build(t, &table.WriterOptions{FilterPolicy: p}, numbered(100)),
		&table.ReaderOptions{Metrics: &m, FilterPolicies: []filter.Policy{p}})
	for i := range 50 {
		if _, err := r.Get(fmt.Appendf(nil, "key%06d", 2*i+1)); !errors.Is(err, table.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if c := countsOf(&m); c.Questions != 50 || c.FalsePositives != 50 || c.Negatives != 0 {
		t.Errorf("%+v, want 50 questions, all of them false positives", c)
	}
}

func TestGetValueIsForever(t *testing.T) {
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		r := open(t, build(t, &table.WriterOptions{Compression: codec}, numbered(1000)), nil)
		var values [][]byte
		for _, p := range numbered(1000) {
			v, err := r.Get(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			if len(v) != cap(v) {
				t.Fatalf("value of length %d has capacity %d", len(v), cap(v))
			}
			values = append(values, v)
		}
		forward(t, r.NewIter(nil))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for i, p := range numbered(1000) {
			if !bytes.Equal(values[i], p.Value) {
				t.Fatalf("codec %d: value %d became %q", codec.ID(), i, values[i])
			}
		}
	}
}

// A small value does not keep a large buffer in memory, whatever lookups have
// used the buffer before.
func TestGetKeepsLittleMemory(t *testing.T) {
	pairs := append(pairsOf("a"), workload.Pair{Key: []byte("b"), Value: make([]byte, 900_000)})
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		r := open(t, build(t, &table.WriterOptions{BlockSize: 1, Compression: codec}, pairs), nil)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		values := make([][]byte, 200)
		for i := range values {
			if _, err := r.AppendGet(nil, []byte("b")); err != nil {
				t.Fatal(err)
			}
			var err error
			if values[i], err = r.Get([]byte("a")); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 10e6 {
			t.Errorf("codec %d: %d values of %d bytes keep %d bytes", codec.ID(), len(values), len(values[0]), kept)
		}
		runtime.KeepAlive(values)
	}
}

func TestAppendGet(t *testing.T) {
	r := open(t, build(t, nil, numbered(10)), nil)
	got, err := r.AppendGet([]byte("before "), []byte("key000002"))
	if err != nil || string(got) != "before value of key000002" {
		t.Errorf("AppendGet = %q, %v", got, err)
	}
	got, err = r.AppendGet([]byte("before"), []byte("key000003"))
	if !errors.Is(err, table.ErrNotFound) || string(got) != "before" {
		t.Errorf("AppendGet of an absent key = %q, %v; want dst and ErrNotFound", got, err)
	}
}

func TestLookupAllocations(t *testing.T) {
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		var m table.Metrics
		o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec}
		r := open(t, build(t, o, numbered(1000)), &table.ReaderOptions{Metrics: &m})
		present, absent := []byte("key001000"), []byte("key001001")
		dst := make([]byte, 0, 100)
		for _, tt := range []struct {
			name string
			want error
			most float64
			why  string
			call func() error
		}{
			{"Get of an absent key", table.ErrNotFound, 0, "the filter answers", func() error { _, err := r.Get(absent); return err }},
			{"AppendGet with room", nil, 0, "buffers are pooled", func() error { _, err := r.AppendGet(dst, present); return err }},
			{"Get of a present key", nil, 1, "the value is the caller's", func() error { _, err := r.Get(present); return err }},
		} {
			var err error
			got := testing.AllocsPerRun(200, func() { err = tt.call() })
			if got > tt.most && !raceEnabled {
				t.Errorf("codec %d: %s: %v allocations, want at most %v: %s", codec.ID(), tt.name, got, tt.most, tt.why)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("codec %d: %s = %v, want %v", codec.ID(), tt.name, err, tt.want)
			}
		}
		if c := countsOf(&m); c.Negatives != 201 {
			t.Errorf("codec %d: the filter answered %d of 201 absent lookups", codec.ID(), c.Negatives)
		}
	}
}

// The filter's name decides which policy is asked.
func TestFilterNames(t *testing.T) {
	bloom := filter.NewBloom(10)
	for _, tt := range []struct {
		name     string
		written  filter.Policy
		policies []filter.Policy
		err      string // in FilterErr; "" for none
	}{
		{"both names", bloom, nil, ""},
		{"goleveldb's name", filter.Rename(bloom, "leveldb.BuiltinBloomFilter"), nil, ""},
		{"C++ LevelDB's name", filter.Rename(bloom, "leveldb.BuiltinBloomFilter2"), nil, ""},
		{"no filter", nil, nil, ""},
		{"a name that nobody knows", filter.Rename(bloom, "my.Bloom"), nil, `filter "my.Bloom": no policy of that name`},
		{"a name that the options know", filter.Rename(bloom, "my.Bloom"), []filter.Policy{nil, filter.Rename(bloom, "my.Bloom")}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m table.Metrics
			r := open(t, build(t, &table.WriterOptions{FilterPolicy: tt.written}, numbered(100)),
				&table.ReaderOptions{FilterPolicies: tt.policies, Metrics: &m})
			err := r.FilterErr()
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("FilterErr = %v, want %q", err, tt.err)
			}
			checkLookups(t, r, numbered(100))
			if asked := m.FilterQuestions.Load() > 0; asked != (tt.written != nil && tt.err == "") {
				t.Errorf("filter asked: %v", asked)
			}
			if err := r.Verify(); err != nil {
				t.Errorf("Verify = %v", err)
			}
		})
	}
}

// The first policy of the options that the table has a filter for is asked,
// whatever the order in the table.
func TestFilterPolicyOrder(t *testing.T) {
	contents := build(t, withBloom, numbered(10))
	for _, tt := range []struct {
		names string
		asked string
	}{
		{"leveldb.BuiltinBloomFilter2 leveldb.BuiltinBloomFilter", "leveldb.BuiltinBloomFilter2"},
		{"leveldb.BuiltinBloomFilter leveldb.BuiltinBloomFilter2", "leveldb.BuiltinBloomFilter"},
		{"other leveldb.BuiltinBloomFilter2", "leveldb.BuiltinBloomFilter2"},
	} {
		asked := map[string]bool{}
		var policies []filter.Policy
		for _, name := range strings.Fields(tt.names) {
			policies = append(policies, askedPolicy{filter.Rename(filter.NewBloom(10), name), asked})
		}
		r := open(t, contents, &table.ReaderOptions{FilterPolicies: policies})
		if _, err := r.Get([]byte("key000002")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]bool{tt.asked: true}, asked); diff != "" {
			t.Errorf("policies %s: asked (-want +got):\n%s", tt.names, diff)
		}
	}
}

// askedPolicy notes when it is asked.
type askedPolicy struct {
	filter.Policy
	asked map[string]bool
}

func (p askedPolicy) Contains(filter, key []byte) bool {
	p.asked[p.Name()] = true
	return p.Policy.Contains(filter, key)
}

// To a FilterKey a nil key is the empty key, as it is to the table.
func TestFilterKeyOfNil(t *testing.T) {
	same := func(key []byte) []byte { return key }
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterKey: same}, []workload.Pair{{}})
	r := open(t, contents, &table.ReaderOptions{FilterKey: same})
	for _, key := range [][]byte{nil, {}} {
		if _, err := r.Get(key); err != nil {
			t.Errorf("Get(%#v) = %v", key, err)
		}
	}
}

// FilterKey says what the filter holds: here the part before a slash, and
// nothing of keys without one.
func TestFilterKey(t *testing.T) {
	prefix := func(key []byte) []byte {
		if i := bytes.IndexByte(key, '/'); i >= 0 {
			return key[:i]
		}
		return nil
	}
	pairs := pairsOf("a", "b/1", "b/2", "c/1", "d")
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(20), FilterKey: prefix}, pairs)
	var m table.Metrics
	r := open(t, contents, &table.ReaderOptions{FilterKey: prefix, Metrics: &m})
	checkLookups(t, r, pairs)
	if err := r.Verify(); err != nil {
		t.Errorf("Verify = %v", err)
	}
	for _, tt := range []struct {
		key             string
		asked, negative uint64
	}{
		{"b/3", 1, 0},  // the filter has b
		{"bb/1", 1, 1}, // but not bb
		{"bb", 0, 0},   // not asked: it has no slash
	} {
		before := countsOf(&m)
		if _, err := r.Get([]byte(tt.key)); !errors.Is(err, table.ErrNotFound) {
			t.Errorf("Get(%q) = %v", tt.key, err)
		}
		after := countsOf(&m)
		if after.Questions-before.Questions != tt.asked || after.Negatives-before.Negatives != tt.negative {
			t.Errorf("Get(%q): counts went from %+v to %+v", tt.key, before, after)
		}
	}
	if err := open(t, contents, nil).Verify(); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), `: "b/1", "b/2", "c/1", "d"`) {
		t.Errorf("Verify without FilterKey = %v, want each key that the filter denies", err)
	}
}

// internal returns a database's internal key.
func internal(user string, sequence byte) []byte {
	return append([]byte(user), 1, sequence, 0, 0, 0, 0, 0, 0)
}

func TestInternalFilterKey(t *testing.T) {
	pairs := []workload.Pair{{Key: internal("", 1)}, {Key: internal("aa", 2)}, {Key: internal("bb", 3)}}
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterKey: table.InternalFilterKey}, pairs)
	checkLookups(t, open(t, contents, &table.ReaderOptions{FilterKey: table.InternalFilterKey}), pairs)

	without := open(t, contents, nil)
	if _, err := without.Get(pairs[1].Key); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("Get without FilterKey = %v; want ErrNotFound, since the filter has user keys", err)
	}
	err := without.Verify()
	if err == nil || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "InternalFilterKey") {
		t.Errorf("Verify without FilterKey = %v, want a hint at InternalFilterKey", err)
	}
	for _, tt := range []struct{ in, want []byte }{
		{nil, nil},
		{[]byte("1234567"), nil},
		{[]byte("12345678"), []byte{}},
		{[]byte("a12345678"), []byte("a")},
	} {
		if diff := cmp.Diff(tt.want, table.InternalFilterKey(tt.in)); diff != "" {
			t.Errorf("InternalFilterKey(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestReaderAfterClose(t *testing.T) {
	r := open(t, build(t, withBloom, numbered(1000)), nil)
	it := r.NewIter(nil)
	it.First()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, get := r.Get([]byte("key000000"))
	_, appendGet := r.AppendGet(nil, []byte("key000000"))
	it.Last()
	fresh := r.NewIter(nil)
	fresh.First()
	for i, err := range []error{get, appendGet, r.Verify(), r.Close(), it.Error(), fresh.Error()} {
		if !errors.Is(err, table.ErrClosed) {
			t.Errorf("call %d after Close = %v, want ErrClosed", i, err)
		}
	}
}

func TestReaderRefusesImpossibleOptions(t *testing.T) {
	contents := build(t, nil, nil)
	src := bytes.NewReader(contents)
	size := int64(len(contents))
	for _, tt := range []struct {
		name string
		src  io.ReaderAt
		size int64
		o    *table.ReaderOptions
	}{
		{"no reader", nil, size, nil},
		{"negative size", src, -1, nil},
		{"negative MaxBlockSize", src, size, &table.ReaderOptions{MaxBlockSize: -1}},
		{"MaxBlockSize that leaves no room for a trailer", src, size, &table.ReaderOptions{MaxBlockSize: math.MaxInt}},
	} {
		if r, err := table.NewReader(tt.src, tt.size, tt.o); err == nil || r != nil {
			t.Errorf("%s: NewReader = %v, %v; want nil and an error", tt.name, r, err)
		}
	}
}

// runCodec stores runs of a byte as their length and the byte plus one.
type runCodec struct{ id byte }

func (c runCodec) ID() byte { return c.id }

func (c runCodec) Encode(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		run := 1
		for run < 255 && i+run < len(src) && src[i+run] == src[i] {
			run++
		}
		dst = append(dst, byte(run), src[i]+1)
		i += run
	}
	return dst
}

func (c runCodec) Decode(dst, src []byte, limit int) ([]byte, error) {
	start := len(dst)
	for ; len(src) >= 2; src = src[2:] {
		if len(dst)-start+int(src[0]) > limit {
			return nil, errors.New("too long")
		}
		dst = append(dst, bytes.Repeat([]byte{src[1] - 1}, int(src[0]))...)
	}
	return dst, nil
}

func TestCodecs(t *testing.T) {
	var pairs []workload.Pair
	for i := range 200 {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "%03d", i), Value: bytes.Repeat([]byte{byte(i)}, 200)})
	}
	raw := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	for _, c := range []table.Codec{table.Snappy, runCodec{2}, runCodec{255}} {
		contents := build(t, &table.WriterOptions{Compression: c, FilterPolicy: filter.NewBloom(10)}, pairs)
		if len(contents) > len(raw)/2 {
			t.Errorf("codec %d: %d bytes, %d without", c.ID(), len(contents), len(raw))
		}
		r := open(t, contents, &table.ReaderOptions{Codecs: []table.Codec{nil, c}})
		if diff := diffPairs(pairs, forward(t, r.NewIter(nil))); diff != "" {
			t.Errorf("codec %d (-want +got):\n%s", c.ID(), diff)
		}
		checkLookups(t, r, pairs)
	}
	unknown := build(t, &table.WriterOptions{Compression: runCodec{7}}, pairs)
	if _, err := open(t, unknown, nil).Get([]byte("000")); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "compression id 7") {
		t.Errorf("Get without the codec = %v, want ErrCorrupt with its id", err)
	}
}

// A codec that returns nothing does not lose the block.
func TestCodecThatReturnsNothing(t *testing.T) {
	contents := build(t, &table.WriterOptions{Compression: noneCodec{runCodec{9}}}, numbered(10))
	checkLookups(t, open(t, contents, nil), numbered(10))
}

type noneCodec struct{ runCodec }

func (noneCodec) Encode(dst, src []byte) []byte { return dst }

func TestSnappyKeepsIncompressibleBlocksRaw(t *testing.T) {
	pairs := dataset(t, "one-mib")
	snappy := build(t, &table.WriterOptions{Compression: table.Snappy}, pairs)
	none := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	if len(snappy) > len(none) {
		t.Errorf("%d bytes with Snappy, %d without", len(snappy), len(none))
	}
}

// MaxBlockSize bounds a block as stored and as decompressed.
func TestMaxBlockSize(t *testing.T) {
	pairs := []workload.Pair{{Key: []byte("k"), Value: make([]byte, 100_000)}}
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		contents := build(t, &table.WriterOptions{Compression: codec}, pairs)
		r := open(t, contents, &table.ReaderOptions{MaxBlockSize: 10_000})
		if _, err := r.Get([]byte("k")); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "want at most 10000") {
			t.Errorf("codec %d: Get of a block above MaxBlockSize = %v, want ErrCorrupt with the limit", codec.ID(), err)
		}
		if _, err := open(t, contents, nil).Get([]byte("k")); err != nil {
			t.Error(err)
		}
	}
}

// goleveldb's comparers fit, and another order works throughout.
func TestComparer(t *testing.T) {
	pairs := numbered(500)
	slices.Reverse(pairs)
	descending := descendingComparer{}
	o := &table.WriterOptions{Comparer: descending, FilterPolicy: filter.NewBloom(10), BlockSize: 200}
	contents := build(t, o, pairs)
	r := open(t, contents, &table.ReaderOptions{Comparer: descending})
	if diff := diffPairs(pairs, forward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("forward (-want +got):\n%s", diff)
	}
	if diff := diffPairs(pairs, backward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("backward (-want +got):\n%s", diff)
	}
	checkLookups(t, r, pairs)
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	if _, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil); !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("NewReader in the wrong order = %v, want ErrCorrupt", err)
	}
}

type descendingComparer struct{}

func (descendingComparer) Compare(a, b []byte) int           { return bytes.Compare(b, a) }
func (descendingComparer) Name() string                      { return "test.Descending" }
func (descendingComparer) Separator(dst, a, b []byte) []byte { return nil }
func (descendingComparer) Successor(dst, b []byte) []byte    { return nil }

func TestBytewiseSeparators(t *testing.T) {
	c := table.BytewiseComparer
	for _, tt := range []struct{ a, b, separator, successor string }{
		{"abcd", "abzz", "abd", "b"},
		{"abc", "abcd", "", "b"},  // a prefix
		{"abc", "abd", "", "b"},   // no room between
		{"ab\xff", "ac", "", "b"}, // no room
		{"a\xff\x01", "b", "", "b"},
		{"\xffa", "\xffz", "\xffb", "\xffb"},
		{"\xff\xff", "\xff\xff\x00", "", ""},
		{"", "a", "", ""},
	} {
		if got := c.Separator([]byte("dst "), []byte(tt.a), []byte(tt.b)); (got == nil) != (tt.separator == "") || got != nil && string(got) != "dst "+tt.separator {
			t.Errorf("Separator(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.separator)
		}
		if got := c.Successor([]byte("dst "), []byte(tt.a)); (got == nil) != (tt.successor == "") || got != nil && string(got) != "dst "+tt.successor {
			t.Errorf("Successor(%q) = %q, want %q", tt.a, got, tt.successor)
		}
	}
}
