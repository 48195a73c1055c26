package command

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// In a directory of tables without sequence numbers, the table with the highest number wins for each key: in scans in
// both directions and in lookups.
func TestPlainTablesOfADirectory(t *testing.T) {
	t.Parallel()
	for seed, rng := range seeds(rounds(40, 1000), 100) {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "tables")}
		want := map[string]string{}
		first := []int{1, 999_990}[rng.IntN(2)] // names of more digits follow
		for number := first; number < first+1+rng.IntN(25); number++ {
			pairs := map[string]string{}
			for range 1 + rng.IntN(20) {
				key := fmt.Sprintf("k%02d", rng.IntN(60))
				pairs[key] = fmt.Sprint(key, " of ", number)
			}
			maps.Copy(want, pairs)
			var sorted []workload.Pair
			for _, key := range slices.Sorted(maps.Keys(pairs)) {
				sorted = append(sorted, workload.Pair{Key: []byte(key), Value: []byte(pairs[key])})
			}
			d.write(t, fmt.Sprintf("%06d.ldb", number), tabletest.Build(t, &table.WriterOptions{BlockSize: 1 + rng.IntN(200)}, sorted))
		}
		s := openSource(t, d.dir, source.Options{Lookups: rng.IntN(2) == 0})
		for _, reverse := range []bool{false, true} {
			got, last := map[string]string{}, ""
			for e, err := range s.Scan(source.ScanOptions{Reverse: reverse}) {
				key := string(e.Key)
				if err != nil || last != "" && key > last == reverse || key == last {
					t.Fatalf("seed %d, reverse %t: %q after %q, %v", seed, reverse, key, last, err)
				}
				got[key], last = string(e.Value), key
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d, reverse %t (-want +got):\n%s", seed, reverse, diff)
			}
		}
		for i := range 60 {
			checkGet(t, fmt.Sprint("seed ", seed), s, want, fmt.Sprintf("k%02d", i))
		}
		s.Close()
	}
}
