package command

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/internalkey"
)

// If a table's index is damaged, a repair keeps the sound blocks. The keys after the first gap between them, up to
// the last one in the MANIFEST, are lost, and no others. The blocks of a table in a value are not taken for its own.
func TestSalvagedTables(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(rounds(150, 5000), 102) {
		n := 10 + rng.IntN(40)
		d := &levels{rawDatabase: rawDatabase{dir: filepath.Join(t.TempDir(), "db")}, rng: rng, writes: randomWrites(rng, 1, n, 1+rng.IntN(1+n))}
		older := 3 + rng.IntN(5)
		d.addLevel(t, 2, d.writes[:older])
		d.holdTable(t, older+rng.IntN(len(d.writes)-older))
		d.addTable(t, 1, slices.SortedFunc(slices.Values(d.writes[older:]), rawEntry.compare))
		d.end(t)
		gap := d.breakIndex(t)
		s := openSource(t, d.dir, source.Options{ListOptions: dbdir.ListOptions{Repair: true}, Salvage: true})
		want, shown, lost := current(d.writes), map[string]string{}, s.NewLossCursor()
		for e, err := range s.Scan(source.ScanOptions{}) {
			if shown[string(e.Key)] = string(e.Value); err != nil || lost.IsCertain(e) != !d.mayBeInGap(gap, string(e.Key)) {
				t.Fatalf("seed %d, gap %d: key %s is certain: %t, %v", seed, gap, e.Key, lost.IsCertain(e), err)
			}
		}
		losses := s.Losses(source.KeyRange{})
		if gap < 0 && len(losses) > 0 {
			t.Errorf("seed %d: nothing is lost, and named are %v", seed, losses)
		}
		for _, key := range append(keysOf(d.writes), "a", "k999") {
			isLost := d.mayBeInGap(gap, key)
			if named := slices.ContainsFunc(losses, func(l source.Loss) bool { return contains(l.Keys, key) }); named != isLost {
				t.Fatalf("seed %d, gap %d: key %s is lost: %t; losses %v", seed, gap, key, named, losses)
			}
			if value, there := want[key]; !isLost && (shown[key] != value || !there && shown[key] != "") {
				t.Fatalf("seed %d, gap %d: key %s = %q, want %q", seed, gap, key, shown[key], value)
			}
		}
		s.Close()
	}
}

// keysOf returns the keys of writes.
func keysOf(writes []rawEntry) (keys []string) {
	for _, w := range writes {
		keys = append(keys, w.key)
	}
	return keys
}

// holdTable makes the value of a write a table, whose keys are around those of the writes.
func (d *levels) holdTable(t *testing.T, i int) {
	t.Helper()
	order := table.InternalComparer(nil)
	var pairs []workload.Pair
	for _, key := range []string{"a", "k999"} {
		pairs = append(pairs, workload.Pair{Key: internalkey.Key{UserKey: []byte(key), Sequence: 9999, Kind: internalkey.Set}.Append(nil), Value: []byte("of a value")})
	}
	d.writes[i].kind = internalkey.Set
	d.writes[i].value = string(tabletest.Build(t, &table.WriterOptions{Comparer: order, Compression: table.NoCompression, BlockSize: 1}, pairs))
}

// breakIndex damages the index of the last table and, in most cases, one of its blocks. It returns the number of that
// block, or −1.
func (d *levels) breakIndex(t *testing.T) (gap int) {
	t.Helper()
	s := d.tables[len(d.tables)-1]
	l := layoutOf(t, s.path)
	if gap = d.rng.IntN(len(s.blocks)+1) - 1; gap >= 0 {
		flipAt(t, s.path, int64(l.Data[gap].Offset))
	}
	flipAt(t, s.path, int64(l.Index.Offset))
	return gap
}

// mayBeInGap reports whether a key may be one that the last table has lost in a gap.
func (d *levels) mayBeInGap(gap int, key string) bool {
	s := d.tables[len(d.tables)-1]
	switch {
	case gap < 0 || key > s.to:
		return false
	case gap == 0:
		return key >= s.from
	}
	return key > s.blocks[gap].from
}
