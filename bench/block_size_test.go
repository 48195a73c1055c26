package bench

import (
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
)

// BenchmarkBlockSize looks up present keys of W1 without a cache, in tables with different block sizes. It also
// reports the size of the table, and its memory when open.
func BenchmarkBlockSize(b *testing.B) {
	for _, c := range codecs {
		for _, size := range []int{4 << 10, 32 << 10} {
			b.Run(fmt.Sprintf("codec=%s/size=%dKiB", c.name, size>>10), func(b *testing.B) {
				o := options(c.codec)
				o.BlockSize = size
				contents := tabletest.Build(b, o, w1().Pairs())
				r := tabletest.Open(b, contents, nil)
				memory := r.MemorySize()
				loop(b, present(r, w1()))
				b.ReportMetric(float64(len(contents))/(1<<20), "MiB")
				b.ReportMetric(float64(memory), "memory-B")
			})
		}
	}
}
