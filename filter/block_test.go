package filter_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filterblock"
)

// listPolicy is as transparent as a filter can be: its filters are the keys in
// plain text, each followed by a comma. It keeps Bloom out of the filter
// block's tests.
type listPolicy struct{}

func (listPolicy) Name() string { return "test.List" }

func (listPolicy) NewGenerator() filter.Generator { return &listGenerator{} }

func (listPolicy) Contains(f, key []byte) bool {
	return strings.Contains(","+string(f), ","+string(key)+",")
}

type listGenerator struct{ list []byte }

func (g *listGenerator) Add(key []byte) { g.list = append(append(g.list, key...), ',') }

func (g *listGenerator) Generate(b filter.Buffer) {
	b.Write(g.list[:len(g.list)-1])
	b.WriteByte(g.list[len(g.list)-1])
	g.list = g.list[:0]
}

// dataBlock is one StartBlock call and the Add calls that follow it.
type dataBlock struct {
	offset uint64
	keys   string // separated by spaces
}

func buildBlock(t *testing.T, p filter.Policy, baseLg int, blocks []dataBlock) []byte {
	t.Helper()
	w, err := filter.NewBlockWriter(p, baseLg)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := w.StartBlock(b.offset); err != nil {
			t.Fatal(err)
		}
		for _, k := range strings.Fields(b.keys) {
			w.Add([]byte(k))
		}
	}
	block, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return block
}

func TestBlockBytes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		baseLg int
		blocks []dataBlock
		want   string
	}{
		{
			"no calls: no filters", 11, nil,
			"" + "\x00\x00\x00\x00" + "\x0b",
		},
		{
			"a block of no keys: no filters", 11, []dataBlock{{0, ""}},
			"" + "\x00\x00\x00\x00" + "\x0b",
		},
		{
			"one filter", 11, []dataBlock{{0, "a b"}},
			"a,b," + "\x00\x00\x00\x00" + "\x04\x00\x00\x00" + "\x0b",
		},
		{
			"blocks that start in one range share a filter", 11, []dataBlock{{0, "a"}, {2047, "b"}},
			"a,b," + "\x00\x00\x00\x00" + "\x04\x00\x00\x00" + "\x0b",
		},
		{
			"a block that starts in the next range starts a filter", 11, []dataBlock{{0, "a"}, {2048, "b"}},
			"a,b," + "\x00\x00\x00\x00\x02\x00\x00\x00" + "\x04\x00\x00\x00" + "\x0b",
		},
		{
			"ranges that no block starts in get filters of no bytes", 11, []dataBlock{{0, "a"}, {3 * 2048, "b"}},
			"a,b," + "\x00\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00" + "\x04\x00\x00\x00" + "\x0b",
		},
		{
			"base lg 0: one filter a byte", 0, []dataBlock{{0, "a"}, {1, "b"}},
			"a,b," + "\x00\x00\x00\x00\x02\x00\x00\x00" + "\x04\x00\x00\x00" + "\x00",
		},
		{
			"base lg 30", 30, []dataBlock{{0, "a"}, {1<<30 - 1, "b"}, {1 << 30, "c"}},
			"a,b,c," + "\x00\x00\x00\x00\x04\x00\x00\x00" + "\x06\x00\x00\x00" + "\x1e",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := buildBlock(t, listPolicy{}, tt.baseLg, tt.blocks)
			if diff := cmp.Diff([]byte(tt.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The blocks, offsets and questions of LevelDB's filter_block_test.
func TestBlockContains(t *testing.T) {
	t.Parallel()
	block := buildBlock(t, listPolicy{}, 11, []dataBlock{
		{0, "foo"}, {2000, "bar"}, // filter 0
		{3100, "box"},               // filter 1
		{9000, "box"}, {9001, "hi"}, // filter 4; 2 and 3 are empty
	})
	r, err := filter.NewBlockReader(block, listPolicy{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		offset uint64
		yes    string
		no     string
	}{
		{0, "foo bar", "box hi"},
		{2000, "foo bar", "box hi"},
		{2047, "foo bar", "box hi"},
		{2048, "box", "foo bar hi"},
		{3100, "box", "foo bar hi"},
		{4100, "", "foo bar box hi"}, // a filter of no bytes
		{9000, "box hi", "foo bar"},
		{5 << 11, "foo bar box hi", ""}, // no filter: may contain
		{1 << 63, "foo bar box hi", ""},
	} {
		var yes, no []string
		for _, k := range []string{"foo", "bar", "box", "hi"} {
			if r.Contains(tt.offset, []byte(k)) {
				yes = append(yes, k)
			} else {
				no = append(no, k)
			}
		}
		if diff := cmp.Diff([]string{tt.yes, tt.no}, []string{strings.Join(yes, " "), strings.Join(no, " ")}); diff != "" {
			t.Errorf("block at %d, may contain and certainly absent (-want +got):\n%s", tt.offset, diff)
		}
	}
}

func TestNewBlockReaderRefusesDamage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		block string
	}{
		{"no bytes", ""},
		{"4 bytes", "\x00\x00\x00\x0b"},
		{"array offset past the end", "\x00\x00\x00\x00" + "\x05\x00\x00\x00" + "\x0b"},
		{"array offset of 4 GiB", "\xff\xff\xff\xff" + "\x0b"},
		{"array not of whole offsets", "\x00\x00" + "\x00\x00\x00\x00" + "\x0b"},
		{"base lg 31", "\x00\x00\x00\x00" + "\x1f"},
		{"base lg 255", "\x00\x00\x00\x00" + "\xff"},
	} {
		for _, p := range []filter.Policy{filter.NewBloom(10), filter.Rename(filter.NewBloom(10), "x")} {
			if r, err := filter.NewBlockReader([]byte(tt.block), p); err == nil {
				t.Errorf("%s: NewBlockReader = %v, nil; want an error", tt.name, r)
			}
		}
	}
}

// A damaged filter may contain every key, and Check finds it. The other filters of its block are used.
func TestDamagedFilterOfABlock(t *testing.T) {
	t.Parallel()
	nine := string(make([]byte, 8)) + "\x06" // a Bloom filter of no keys
	for _, tt := range []struct {
		name  string
		block string
	}{
		{"a filter that ends before it starts", nine + "\x05\x00\x00\x00\x00\x00\x00\x00" + "\x09\x00\x00\x00" + "\x0b"},
		{"a filter that starts past the array", nine + "\x0a\x00\x00\x00" + "\x09\x00\x00\x00" + "\x0b"},
		{"an empty filter past the array", nine + "\x0a\x00\x00\x00\x0a\x00\x00\x00" + "\x09\x00\x00\x00" + "\x0b"},
		{"the second of two", nine + nine[:8] + "\x00" + "\x00\x00\x00\x00\x09\x00\x00\x00" + "\x12\x00\x00\x00" + "\x0b"},
		{"a filter of 8 bytes", nine[1:] + "\x00\x00\x00\x00" + "\x08\x00\x00\x00" + "\x0b"},
		{"a filter of one byte", "\x06" + "\x00\x00\x00\x00" + "\x01\x00\x00\x00" + "\x0b"},
		{"a filter with k = 0", nine[:8] + "\x00" + "\x00\x00\x00\x00" + "\x09\x00\x00\x00" + "\x0b"},
	} {
		for _, p := range []filter.Policy{filter.NewBloom(10), filter.Rename(filter.NewBloom(10), "x")} {
			r, err := filter.NewBlockReader([]byte(tt.block), p)
			if err != nil {
				t.Errorf("%s: NewBlockReader = %v", tt.name, err)
				continue
			}
			for i := range uint64(r.Len()) {
				sound := tt.name == "the second of two" && i == 0 || tt.name == "a filter that ends before it starts" && i == 1
				if r.Contains(i<<11, []byte("key")) == sound {
					t.Errorf("%s: Contains by filter %d = %t", tt.name, i, sound)
				}
			}
			if r.Check() == nil {
				t.Errorf("%s: Check finds nothing", tt.name)
			}
		}
	}
}

func TestNewBlockReaderRefusesNoPolicy(t *testing.T) {
	t.Parallel()
	if _, err := filter.NewBlockReader([]byte("\x00\x00\x00\x00\x0b"), nil); err == nil {
		t.Error("no error")
	}
}

func TestNewBlockWriterRefuses(t *testing.T) {
	t.Parallel()
	for _, lg := range []int{-1, 31, math.MaxInt} {
		if _, err := filter.NewBlockWriter(listPolicy{}, lg); err == nil {
			t.Errorf("NewBlockWriter with base lg %d: no error", lg)
		}
	}
	if _, err := filter.NewBlockWriter(nil, 11); err == nil {
		t.Error("NewBlockWriter without a policy: no error")
	}
}

// A gap that would take more than 4 GiB of empty filters is refused before any
// memory is taken for them, and the error stays.
func TestBlockWriterRefusesWhatOffsetsCannotReach(t *testing.T) {
	t.Parallel()
	for _, offset := range []uint64{1 << 30, 1 << 62, 1 << 63, 1<<64 - 1} {
		w, err := filter.NewBlockWriter(listPolicy{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.Add([]byte("a"))
		if err := w.StartBlock(offset); err == nil {
			t.Errorf("StartBlock(%d) at base lg 0: no error", offset)
		}
		if block, err := w.Finish(); err == nil {
			t.Errorf("Finish = %d bytes after StartBlock(%d) failed; want an error", len(block), offset)
		}
	}
}

// silentPolicy writes nothing, which in a filter block means "no keys here".
type silentPolicy struct{ listPolicy }

func (silentPolicy) NewGenerator() filter.Generator { return silentGenerator{} }

type silentGenerator struct{}

func (silentGenerator) Add([]byte)             {}
func (silentGenerator) Generate(filter.Buffer) {}

func TestBlockWriterRefusesFiltersOfNoBytes(t *testing.T) {
	t.Parallel()
	w, err := filter.NewBlockWriter(silentPolicy{}, 11)
	if err != nil {
		t.Fatal(err)
	}
	w.Add([]byte("a"))
	if block, err := w.Finish(); err == nil {
		t.Errorf("Finish = %x, want an error", block)
	}
}

func TestBlockWriterRefusesDescendingOffsets(t *testing.T) {
	t.Parallel()
	w, err := filter.NewBlockWriter(listPolicy{}, 11)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		offset uint64
		ok     bool
	}{{10_000, true}, {10_000, true}, {9_999, false}, {20_000, false}} {
		if err := w.StartBlock(tt.offset); (err == nil) != tt.ok {
			t.Errorf("StartBlock(%d) = %v, want ok = %v", tt.offset, err, tt.ok)
		}
	}
	if _, err := w.Finish(); err == nil {
		t.Error("Finish after an error: no error")
	}
}

// Keys that are added as hashes, after the offset of their block became known, give the
// same filters as keys that are added at once.
func TestBlockWriterAddHash(t *testing.T) {
	t.Parallel()
	for _, p := range []filter.Policy{filter.NewBloom(10), listPolicy{}} {
		at, err := filter.NewBlockWriter(p, 11)
		if err != nil {
			t.Fatal(err)
		}
		later, err := filter.NewBlockWriter(p, 11)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(10) {
			key := []byte{'k', byte('0' + i)}
			h := filterblock.WriterOf(later).AppendHash([]byte("dst"), key)[3:]
			if err := errors.Join(at.StartBlock(900*i), later.StartBlock(900*i)); err != nil {
				t.Fatal(err)
			}
			at.Add(key)
			filterblock.WriterOf(later).AddHash(h)
		}
		want, err1 := at.Finish()
		got, err2 := later.Finish()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-Add +AddHash):\n%s", p.Name(), diff)
		}
	}
}
