package tablestats

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// Bloom filters of integers let many neighbors pass, which is detected. Fuse filters do not, nor do Bloom filters
// of random keys, of decimal numbers, or of numbers without gaps.
func TestNeighborsPass(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	eight, err := fuse.New(8)
	noError(t, err)
	bloom, fused := table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, table.WriterOptions{TableFilterPolicy: eight}
	rng := rand.New(rand.NewPCG(1, 1))
	random := make([]byte, 16)
	integers := func(step uint64) func(i uint64) []byte {
		return func(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, step*i) }
	}
	for _, tt := range []struct {
		name string
		key  func(i uint64) []byte
		o    table.WriterOptions
		want bool
	}{
		{"even integers", integers(2), bloom, true},
		{"integers of three", integers(3), bloom, true},
		{"even integers, fuse", integers(2), fused, false},
		{"all integers", integers(1), bloom, false},
		{"decimal", func(i uint64) []byte { return fmt.Appendf(nil, "key%06d", 2*i) }, bloom, false},
		{"random", func(i uint64) []byte {
			binary.BigEndian.PutUint64(random, i<<32|uint64(rng.Uint32()))
			binary.BigEndian.PutUint64(random[8:], rng.Uint64())
			return append([]byte{}, random...)
		}, bloom, false},
	} {
		var pairs []workload.Pair
		for i := range uint64(10_000) {
			pairs = append(pairs, workload.Pair{Key: tt.key(i), Value: make([]byte, 100)})
		}
		f := statsOf(t, tt.o, pairs).Filters[0]
		if got := f.NeighborsPass(); got != tt.want || f.Neighbors.Lookups == 0 && tt.name != "all integers" {
			t.Errorf("%s: %+v and %.4f predicted, %.4f measured: warned %t, want %t", tt.name, f.Neighbors, f.Predicted, f.Measured, got, tt.want)
		}
	}
}
