package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/layout"
)

var withoutSizes = cmpopts.IgnoreUnexported(Series{})

func TestModel(t *testing.T) {
	t.Parallel()
	pairs := []workload.Pair{{Key: []byte("ada"), Value: []byte("lovelace")}, {Key: []byte("adam"), Value: []byte(strings.Repeat("s", 40))}}
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression, BlockSize: 1}
	f := openTable(t, writeTable(t, "names.ldb", o, pairs))
	got, err := New(f, Options{Embed: 100, Source: "names.ldb"})
	noError(t, err)
	bits, _, err := f.Layout.ReadBlock(f.Filters().BlocksEntry.Handle)
	noError(t, err)
	rate := filter.PredictRate(2, 64, 6)
	rates := []float32{float32(rate)}
	want := &Model{
		File: "names.ldb", Source: "names.ldb", Size: f.Size,
		Stored: 77, Raw: 77, Totals: tablestats.Totals{
			Entries: 2, KeyBytes: 7, ValueBytes: 48, LongestValue: 40, RestartPoints: 2,
			KeySizes: tablestats.Histogram{2: 1, 3: 1}, ValueSizes: tablestats.Histogram{4: 1, 6: 1},
		},
		Compressions: []string{"none"},
		Parts: []Part{
			{Kind: "filter", Name: "filter.leveldb.BuiltinBloomFilter, filter.leveldb.BuiltinBloomFilter2", Offset: 87, Length: 18, Trailer: 5, Raw: 18},
			{Kind: "metaindex", Offset: 110, Length: 52, Trailer: 5, Raw: 52},
			{Kind: "index", Offset: 167, Length: 26, Trailer: 5, Raw: 26},
			{Kind: "footer", Offset: 198, Length: 48, Raw: 48},
		},
		Blocks: Blocks{
			Count: 2, Errors: map[int]string{},
			Index:   []byte(`{"Columns":[[0,27],[22,55],[22,55],[1,1],[1,1],[0,0],[0,0],[15,40]],"Separators":["YWRh","Yg=="]}`),
			Entries: []byte("\x00\x03ada\x08\x08lovelace" + "\x00\x04adam\x28\x20" + strings.Repeat("s", 32)),
		},
		Filter: &Filter{Contents: bits, Rates: rates, FilterStats: tablestats.FilterStats{
			Name: "leveldb.BuiltinBloomFilter", Offset: 87, Bytes: 18, NonEmpty: 1, Keys: 2, BaseLg: 11, KMin: 6, KMax: 6,
			BitsPerKey: 32, Fill: 12. / 64, Predicted: rate, Rates: rates,
		}},
		Samples: [][]byte{[]byte("ada"), []byte("adam")},
	}
	histograms := got.Histograms
	got.Histograms = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("model (-want +got):\n%s", diff)
	}
	wantHistograms := []Histogram{
		{Title: "Block sizes", Unit: "bytes", Of: "blocks", Series: []Series{{Min: 22, Median: 22, Max: 55, Mean: 38.5}}},
		{Title: "Entries in a block", Unit: "entries", Of: "blocks", Series: []Series{{Min: 1, Median: 1, Max: 1, Mean: 1}}},
		{Title: "Lengths of keys and values", Unit: "bytes", Of: "entries", Series: []Series{
			{Name: "keys", Min: 3, Median: 3, Max: 4, Mean: 3.5}, {Name: "values", Min: 8, Median: 8, Max: 40, Mean: 24}}},
	}
	for i := range histograms {
		histograms[i].Bins = nil // checked by TestHistogram
	}
	if diff := cmp.Diff(wantHistograms, histograms, withoutSizes); diff != "" {
		t.Errorf("histograms (-want +got):\n%s", diff)
	}
}

// Meta blocks of this module's own kinds have names.
func TestKindsOfParts(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(1), Properties: true, DataDigest: true, Never: func(yield func([]byte, error) bool) {
		_ = yield([]byte("a"), nil) && yield([]byte("b"), nil) && yield([]byte("c"), nil) && yield([]byte("d"), nil)
	}}
	model, err := New(openTable(t, writeTable(t, "t.ldb", o, plainPairs(100))), Options{})
	noError(t, err)
	var got []string
	for _, p := range model.Parts {
		got = append(got, p.Kind)
	}
	want := []string{"table filter", "properties", "digest", "exceptions", "metaindex", "index", "footer"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// Only the entries that exceed the limit are left out.
func TestEmbed(t *testing.T) {
	t.Parallel()
	f := openTable(t, writeTable(t, "t.ldb", table.WriterOptions{Compression: table.NoCompression}, plainPairs(1000)))
	all := len(f.Layout.Data)
	for _, tt := range []struct {
		embed uint64
		held  func(int) bool
	}{
		{0, func(held int) bool { return held == 0 }},
		{20_000, func(held int) bool { return held > 0 && held < all }},
		{1 << 20, func(held int) bool { return held == all }},
		{1<<64 - 1, func(held int) bool { return held == all }},
	} {
		m, err := New(f, Options{Embed: tt.embed})
		noError(t, err)
		var in index
		noError(t, json.Unmarshal(m.Blocks.Index, &in))
		held := 0
		for _, n := range in.Columns[7] {
			held += min(int(n), 1)
		}
		if b := m.Blocks; !tt.held(held) || b.Count != all || uint64(len(b.Entries))/3*4 > tt.embed {
			t.Errorf("with %d bytes for them the page holds entries of %d of %d blocks, in %d bytes", tt.embed, held, all, len(b.Entries))
		}
	}
}

// Damage is reported once in the page, and in the error.
func TestDamage(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression, BlockSize: 1}
	pairs := plainPairs(3)
	for _, tt := range []struct {
		part   string
		offset func(*layout.Layout) uint64
		errors func(*Model) string
	}{
		{"data block", func(l *layout.Layout) uint64 { return l.Data[1].Offset }, func(m *Model) string { return m.Blocks.Errors[1] }},
		{"meta block", func(l *layout.Layout) uint64 { return l.Data[2].Offset + l.Data[2].Length + 5 }, func(m *Model) string { return m.Parts[0].Error }},
		{"metaindex block", func(l *layout.Layout) uint64 { return l.Metaindex.Offset }, func(m *Model) string { return m.Parts[0].Error }},
	} {
		t.Run(tt.part, func(t *testing.T) {
			path := writeTable(t, "t.ldb", o, pairs)
			offset := tt.offset(openTable(t, path).Layout)
			flipAt(t, path, int64(offset))
			m, err := New(openTable(t, path), Options{Embed: 1000})
			if !errors.Is(err, table.ErrCorrupt) {
				t.Errorf("error %v, want damage", err)
			}
			want := fmt.Sprintf("table: %s at %d ", tt.part, offset)
			if got := tt.errors(m); !strings.HasPrefix(got, want) || !strings.Contains(got, "checksum mismatch") {
				t.Errorf("the part's error is %q, want a checksum mismatch of %q", got, want)
			}
			if len(m.Damage.Shown) != 1 || !strings.HasPrefix(m.Damage.Shown[0], want) {
				t.Errorf("damage is %q, want once %q", m.Damage, want)
			}
		})
	}
}

func TestBins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		least, most int
		want        []Bin
	}{
		{7, 7, []Bin{{7, 7, nil}}},
		{0, 2, []Bin{{0, 0, nil}, {1, 1, nil}, {2, 2, nil}}},
		{95, 160, []Bin{{95, 99, nil}, {100, 104, nil}, {105, 109, nil}}},
		{0, 1000, []Bin{{0, 0, nil}, {1, 1, nil}, {2, 3, nil}}},
		{5, 1000, []Bin{{4, 7, nil}, {8, 15, nil}, {16, 31, nil}}},
	} {
		got := bins(tt.least, tt.most)
		if diff := cmp.Diff(tt.want, got[:min(3, len(got))]); diff != "" {
			t.Errorf("bins for %d to %d (-want +got):\n%s", tt.least, tt.most, diff)
		}
		if last := got[len(got)-1]; last.From > tt.most || last.To < tt.most || len(got) > maxBins {
			t.Errorf("%d bins for %d to %d, the last %v", len(got), tt.least, tt.most, last)
		}
	}
}

func TestHistogram(t *testing.T) {
	t.Parallel()
	got := Histogram{Title: "Sizes", Unit: "bytes", Of: "blocks", Series: []Series{
		{Name: "large", sizes: sizeCounts{1: 5, 2: 1, 4: 4}}, {Name: "all the same", sizes: sizeCounts{9: 10}}, {Name: "small", sizes: sizeCounts{0: 1, 1: 1}}}}
	got.fill()
	want := Histogram{
		Title: "Sizes", Unit: "bytes", Of: "blocks",
		Series: []Series{{"large", 1, 1, 4, 2.3, nil}, {"all the same", 9, 9, 9, 9, nil}, {"small", 0, 0, 1, 0.5, nil}},
		Bins:   []Bin{{0, 0, []int{0, 1}}, {1, 1, []int{5, 1}}, {2, 2, []int{1, 0}}, {3, 3, []int{0, 0}}, {4, 4, []int{4, 0}}},
	}
	if diff := cmp.Diff(want, got, withoutSizes); diff != "" {
		t.Errorf("histogram (-want +got):\n%s", diff)
	}
}

// No text from the file is interpreted as HTML.
func TestWriteEscapes(t *testing.T) {
	t.Parallel()
	const hostile = "</script><script>alert(1)</script><!--\u2028\u202e\u009b&amp;{{script}}{{data}}"
	m := &Model{File: hostile, Source: hostile, Note: hostile, Damage: firstOf([]string{hostile}), Parts: []Part{{Name: hostile, Error: hostile}}}
	var page strings.Builder
	noError(t, m.Write(&page))
	for _, tt := range []struct {
		part string
		want int
	}{
		{"<script", 2}, // the page's own
		{"</script>", 2},
		{"<!--", 0},
		{"\u2028", 0},
		{"\u202e", 0}, // would make the following text right-to-left
		{"\u009b", 0},
	} {
		if n := strings.Count(page.String(), tt.part); n != tt.want {
			t.Errorf("the page has %q %d times, want %d", tt.part, n, tt.want)
		}
	}
}

// otherPolicy is a table filter policy that sst does not know.
type otherPolicy struct{ filter.TableBloom }

func (otherPolicy) Name() string { return "other.Filter" }

// The page shows a table filter of RocksDB or Pebble, and says so if it does not know the policy.
func TestWholeFilterOfAnotherForm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		policy filter.TablePolicy
		shown  bool
	}{
		{filter.NewTableBloom(10), true},
		{otherPolicy{}, false},
	} {
		m, err := New(openTable(t, writeTable(t, "t.ldb", table.WriterOptions{TableFilterPolicy: tt.policy}, plainPairs(1000))), Options{})
		noError(t, err)
		if shown := m.Whole != nil; shown != tt.shown || strings.Contains(m.Note, tt.policy.Name()) == tt.shown {
			t.Errorf("%s: shown: %v, note: %q", tt.policy.Name(), shown, m.Note)
		}
	}
}
