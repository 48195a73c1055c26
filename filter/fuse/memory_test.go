package fuse_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// Building a filter allocates at most 32 bytes per key in total, so it never takes more at a time.
func TestMemoryOfBuilding(t *testing.T) {
	long.NoRace(t)
	const keys, most = 1_000_000, 32
	for _, bits := range allBits {
		for name, write := range map[string]func(testing.TB, int, int){"generator": addToGenerator, "Writer": writeFilterOnly} {
			t.Run(fmt.Sprintf("%s/bits=%d", name, bits), func(t *testing.T) {
				runtime.GC() // twice, to empty the pools too
				runtime.GC()
				allocated := filtertest.AllocatedBy(func() { write(t, bits, keys) })
				if n := float64(allocated) / keys; n > most {
					t.Errorf("%.1f bytes were allocated for each key, want ≤ %d", n, most)
				}
			})
		}
	}
}

func addToGenerator(t testing.TB, bits, n int) { build(t, newPolicy(t, bits), n) }

func writeFilterOnly(t testing.TB, bits, n int) {
	var key [8]byte
	o := &table.WriterOptions{TableFilterPolicy: newPolicy(t, bits), FilterOnly: true}
	writePairs(t, io.Discard, o, n, func(i int) ([]byte, []byte) {
		binary.BigEndian.PutUint64(key[:], uint64(i))
		return key[:], nil
	})
}
