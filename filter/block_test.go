package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
)

// listPolicy has readable filters: the keys in plain text, each followed by a comma. With it, the tests of filter
// blocks do not depend on Bloom.
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

func buildBlock(t testing.TB, p filter.Policy, baseLg int, blocks []dataBlock) []byte {
	t.Helper()
	w, err := filter.NewBlockWriter(p, baseLg)
	noError(t, err)
	for _, b := range blocks {
		noError(t, w.StartBlock(b.offset))
		for _, k := range strings.Fields(b.keys) {
			w.Add([]byte(k))
		}
	}
	block, err := w.Finish()
	noError(t, err)
	return block
}

func TestBlockWriterWritesTheFormat(t *testing.T) {
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

// The blocks, offsets and lookups of LevelDB's filter_block_test.
func TestBlockReaderAsksTheFilterOfTheOffset(t *testing.T) {
	t.Parallel()
	block := buildBlock(t, listPolicy{}, 11, []dataBlock{
		{0, "foo"}, {2000, "bar"}, // filter 0
		{3100, "box"},               // filter 1
		{9000, "box"}, {9001, "hi"}, // filter 4; 2 and 3 are empty
	})
	r := newReader(t, block, listPolicy{})
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
		t.Run(fmt.Sprintf("offset=%d", tt.offset), func(t *testing.T) {
			var yes, no []string
			for _, k := range []string{"foo", "bar", "box", "hi"} {
				if r.Contains(tt.offset, []byte(k)) {
					yes = append(yes, k)
				} else {
					no = append(no, k)
				}
			}
			if diff := cmp.Diff([]string{tt.yes, tt.no}, []string{strings.Join(yes, " "), strings.Join(no, " ")}); diff != "" {
				t.Errorf("may contain and certainly absent (-want +got):\n%s", diff)
			}
		})
	}
}
