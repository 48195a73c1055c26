package filter_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// Building a filter of 10 bits per key allocates at most 6 bytes per key in total: 4 for its hash, and the filter.
func TestBuildingTakesSixBytesAKey(t *testing.T) {
	long.NoRace(t) // the race detector allocates extended slices twice
	const most = 6
	for _, tt := range []struct {
		name  string
		fixed float64 // bytes that do not depend on the number of keys
		build func(add func(f func(key []byte)))
	}{
		{"Bloom", 1000, func(addTo func(func([]byte))) {
			g := filter.NewBloom(10).NewGenerator()
			addTo(g.Add)
			var f filter.Bytes
			g.Generate(&f)
		}},
		{"TableBloom", 1000, func(addTo func(func([]byte))) {
			g := filter.NewTableBloom(10).NewTableGenerator()
			addTo(g.Add)
			if _, err := g.Generate(); err != nil {
				t.Fatal(err)
			}
		}},
		{"Writer of a filter", 256 << 10, func(addTo func(func([]byte))) {
			w, err := table.NewWriter(io.Discard, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterOnly: true})
			noError(t, err)
			addTo(func(key []byte) {
				noError(t, w.Append(key, nil))
			})
			noError(t, w.Close())
		}},
	} {
		for _, n := range []uint64{3000, 10_000, 123_456, 1_000_000}[:long.Size(3, 4)] {
			t.Run(fmt.Sprintf("%s/keys=%d", tt.name, n), func(t *testing.T) {
				got := math.Inf(1)
				for range 3 { // the runtime allocates too, now and then
					allocated := filtertest.AllocatedBy(func() {
						tt.build(func(add func([]byte)) {
							var key [8]byte
							for i := range n {
								binary.BigEndian.PutUint64(key[:], i)
								add(key[:])
							}
						})
					})
					got = min(got, (float64(allocated)-tt.fixed)/float64(n))
				}
				if got > most {
					t.Errorf("%.1f bytes a key, want at most %d", got, most)
				}
			})
		}
	}
}

// A filter that exceeds the memory limit is an error, and is not allocated. The limit is the process's, so the test
// is not parallel.
func TestFiltersKeepToTheMemoryLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	for name, create := range map[string]func() error{
		"NewDynamicBloom":  func() error { _, err := filter.NewDynamicBloom(400e6, 10); return err },
		"NewCountingBloom": func() error { _, err := filter.NewCountingBloom(14e6, 10); return err },
		"SizedFor": func() error {
			g := filter.NewTableBloom(10).SizedFor(400e6).NewTableGenerator()
			g.Add([]byte("key"))
			_, err := g.Generate()
			return err
		},
	} {
		const want = " bytes of memory, the memory limit of Go's runtime is 67108864 bytes"
		if err := create(); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// A gap between data blocks that needs more than 4 GiB of empty filters is refused without taking memory.
func TestGapsOfFilterBlocksTakeNoMemory(t *testing.T) {
	for _, offset := range []uint64{1 << 30, 1 << 62, math.MaxUint64} {
		if n := filtertest.AllocatedBy(func() { startBlocks(t, 0, offset) }); n > 1<<20 {
			t.Errorf("%d bytes were allocated for a data block at %d", n, offset)
		}
	}
}
