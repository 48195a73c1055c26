package tablestats

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

var noError = errtest.NoError

func statsOf(t *testing.T, o table.WriterOptions, pairs []workload.Pair) *Stats {
	t.Helper()
	f, err := dbfile.Open(filetest.Write(t, "t.ldb", tabletest.Build(t, &o, pairs)), dbfile.Options{})
	noError(t, err)
	defer f.Close()
	s, err := Collect(f, f.Wrap, NewBudget(1))
	noError(t, err)
	s.Measure(f)
	return s
}

func w1(n int) []workload.Pair { return workload.W1(n).Pairs() }

// The counts agree with the pairs, and with the Writer's properties.
func TestStatsCount(t *testing.T) {
	t.Parallel()
	pairs := w1(10_000)
	s := statsOf(t, table.WriterOptions{FilterPolicy: filter.NewBloom(10), Properties: true, RestartInterval: 8}, pairs)
	got := map[string]any{}
	for _, p := range s.Properties {
		got[p.Name] = p.Value
	}
	for name, n := range map[string]int64{
		"entries": int64(s.Entries), "raw_key_bytes": s.KeyBytes, "raw_value_bytes": s.ValueBytes,
		"data_blocks": int64(s.DataBlocks), "data_bytes": s.DataStored, "index_bytes": int64(s.Index.Raw),
	} {
		if diff := cmp.Diff(any(uint64(n)), got[name]); diff != "" {
			t.Errorf("%s (-counted +property):\n%s", name, diff)
		}
	}
	if s.Entries != len(pairs) || s.KeyBytes != int64(16*len(pairs)) || s.ValueBytes != int64(100*len(pairs)) || s.LongestValue != 100 {
		t.Errorf("%d entries, keys of %d bytes, values of %d", s.Entries, s.KeyBytes, s.ValueBytes)
	}
	if per := float64(s.Entries) / float64(s.RestartPoints); per < 6 || per > 8 {
		t.Errorf("%.1f entries for each restart point, want up to 8", per)
	}
}

// The shared bytes are the bytes that a restart point at each entry would add.
func TestStatsOfSharedPrefixes(t *testing.T) {
	t.Parallel()
	pairs := w1(2000)
	o := table.WriterOptions{Compression: table.NoCompression, BlockSize: 1 << 20}
	shared := statsOf(t, o, pairs)
	o.RestartInterval = 1
	whole := statsOf(t, o, pairs)
	saved := whole.DataRaw - 4*int64(whole.RestartPoints) - (shared.DataRaw - 4*int64(shared.RestartPoints))
	if shared.KeyShared != saved || whole.KeyShared != 0 {
		t.Errorf("keys share %d and %d bytes, want %d and 0", shared.KeyShared, whole.KeyShared, saved)
	}
}

// Measured rates are close to the predicted ones, in tables with both kinds of filters. All versions of a key count
// as one key.
func TestMeasuredRates(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	var versions []workload.Pair
	for _, p := range w1(3000) {
		for sequence := uint64(9); sequence > 5; sequence-- {
			key := internalkey.Key{UserKey: p.Key, Sequence: sequence, Kind: internalkey.Set}.Append(nil)
			versions = append(versions, workload.Pair{Key: key, Value: p.Value})
		}
	}
	internal := table.WriterOptions{Comparer: table.InternalComparer(table.BytewiseComparer), FilterKey: internalkey.UserKey}
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		pairs []workload.Pair
	}{
		{"keys", table.WriterOptions{}, w1(20_000)},
		{"versions", internal, versions},
	} {
		tt.o.FilterPolicy, tt.o.TableFilterPolicy = filter.NewBloom(6), filter.NewTableBloom(6)
		for _, f := range statsOf(t, tt.o, tt.pairs).Filters {
			if f.Lookups == 0 || math.Abs(f.Measured-f.Predicted) > f.Predicted/4+0.003 {
				t.Errorf("%s, whole %v: %.4f measured with %d questions, %.4f predicted", tt.name, f.WholeTable, f.Measured, f.Lookups, f.Predicted)
			}
		}
	}
}

// LevelDB filters with few or many keys have a higher rate than the formula's 0.84 %, which is predicted.
func TestPredictedRates(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct {
		keys, blockSize, baseLg int
		least                   float64
	}{
		{100_000, 4096, 30, 0.012}, // one filter
		{30_000, 4096, 11, 0.0084},
		{30_000, 1500, 11, 0.0084},
		{30_000, 700, 9, 0.0084},
		{100_000, 32 << 10, 11, 0.0084},
		{100_000, 4096, 17, 0.0084},
	} {
		o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: tt.blockSize, FilterBaseLg: tt.baseLg}
		f := statsOf(t, o, w1(tt.keys)).Filters[0]
		if (f.NonEmpty == 1) != (tt.baseLg == 30) || f.Predicted < tt.least || math.Abs(f.Measured-f.Predicted) > f.Predicted/10 {
			t.Errorf("%+v: %d filters, %.5f measured, %.5f predicted; want 10 %% apart at most", tt, f.NonEmpty, f.Measured, f.Predicted)
		}
	}
}

// A filter is predicted by its own length, even if others have as many keys: it is sized for all versions of a key,
// which count as one key.
func TestPredictedRateOfVersions(t *testing.T) {
	t.Parallel()
	var pairs []workload.Pair
	for i := range 400 {
		key := internalkey.Key{UserKey: []byte("a"), Sequence: uint64(1000 - i), Kind: internalkey.Set}.Append(nil)
		pairs = append(pairs, workload.Pair{Key: key, Value: make([]byte, 60)})
	}
	for i := range 100 {
		key := internalkey.Key{UserKey: fmt.Appendf(nil, "b%03d", i), Sequence: 1, Kind: internalkey.Set}.Append(nil)
		pairs = append(pairs, workload.Pair{Key: key, Value: make([]byte, 5000)})
	}
	f := statsOf(t, table.WriterOptions{
		Comparer: table.InternalComparer(table.BytewiseComparer), FilterKey: internalkey.UserKey,
		FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression,
	}, pairs).Filters[0]
	if math.Abs(f.Measured-f.Predicted) > f.Predicted/3 {
		t.Errorf("%.5f measured, %.5f predicted; want a third apart at most", f.Measured, f.Predicted)
	}
}

// Filters without keys or probes, and with all bits set or none, have no odd rates either.
func TestRatesOfOddFilters(t *testing.T) {
	t.Parallel()
	for _, b := range []BloomBits{
		{Array: make([]byte, 10)}, {Array: make([]byte, 10), Keys: 5}, {Array: make([]byte, 10), Keys: 5, K: 31},
		{Array: make([]byte, 10), K: 6}, {Array: make([]byte, 1<<20), K: 30, Keys: 1}, {K: 6, Keys: 1},
		{Array: bytes.Repeat([]byte{255}, 10), K: 6, Keys: unknownCount}, {Array: make([]byte, 10), Keys: unknownCount},
	} {
		b = b.withKeys()
		if rate := NewBudget(1).predict([]BloomBits{b})[0]; !(rate >= 0 && rate <= 1) || b.Keys < 0 {
			t.Errorf("%d bytes, k %d, %d keys: rate %g", len(b.Array), b.K, b.Keys, rate)
		}
	}
}

// Damage is reported once, though the metaindex is read twice. If the caller ignores the damage, the counts are the
// same.
func TestStatsOfDamagedTable(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10)}
	contents := tabletest.Build(t, &o, w1(1000))
	layout, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
	noError(t, err)
	contents[layout.Data[1].Offset+1] ^= 1
	contents[layout.Metaindex.Offset+1] ^= 1
	f, err := dbfile.Open(filetest.Write(t, "t.ldb", contents), dbfile.Options{})
	noError(t, err)
	defer f.Close()
	s, err := Collect(f, f.Wrap, NewBudget(1))
	if lines := text.Lines(err); len(lines) != 2 || len(s.Damage) != 2 {
		t.Errorf("damage is %q and %q, want the metaindex and a data block", lines, s.Damage)
	}
	dropped, err := Collect(f, func(error) error { return nil }, NewBudget(1))
	if err != nil || dropped.Damage != nil || dropped.Entries != s.Entries || s.Entries == 0 {
		t.Errorf("%d entries, %q, %v; want %d entries", dropped.Entries, dropped.Damage, err, s.Entries)
	}
}

// The restart interval comes from the properties. Otherwise the default is estimated if it agrees with the restart
// points.
func TestRestartInterval(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		blocks [][2]int // entries and restart points
		stored uint64   // in the properties
		want   int
	}{
		{nil, 0, 16},
		{[][2]int{{3, 1}, {9, 1}}, 0, 16},
		{[][2]int{{40, 1}}, 0, 40},
		{[][2]int{{36, 3}, {34, 3}}, 0, 16},
		{[][2]int{{36, 3}, {31, 3}}, 0, 12}, // with 16, 31 entries would have two
		{[][2]int{{9, 9}}, 0, 1},
		{[][2]int{{9, 9}}, 8, 8},
		{[][2]int{{9, 9}}, 1 << 62, math.MaxInt32},
	} {
		var e Estimate
		for _, b := range tt.blocks {
			e.Add(Block{Totals: Totals{Entries: b[0], RestartPoints: b[1]}}, false)
		}
		if got := e.RestartInterval(&layout.Properties{RestartInterval: tt.stored}); got != tt.want {
			t.Errorf("%v entries and restart points, %d in the properties: restart interval %d, want %d", tt.blocks, tt.stored, got, tt.want)
		}
	}
}
