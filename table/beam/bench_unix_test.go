//go:build unix

package setio_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
)

// BenchmarkWrite builds sets of 64-byte URLs in shuffled files, each in a process of its own. CPU time and memory
// include Prism, the worker and the process. from=keys reads the lines by textio, as elements of the pipeline.
func BenchmarkWrite(b *testing.B) {
	for _, size := range []struct{ keys, files, tables int }{
		{1_000_000, 16, 16},
		{10_000_000, 16, 160},
	} {
		for _, from := range []string{"lines", "keys"} {
			b.Run(fmt.Sprintf("from=%s/keys=%d/files=%d/tables=%d", from, size.keys, size.files, size.tables),
				func(b *testing.B) { benchmarkWrite(b, from, size.keys, size.files, size.tables) })
		}
	}
}

func benchmarkWrite(b *testing.B, from string, keys, files, tables int) {
	if keys > 1_000_000 {
		long.Test(b)
	}
	urls := workload.W3(keys).Keys
	rand.New(rand.NewPCG(17, 17)).Shuffle(keys, func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
	names := writeFiles(b, files, urls)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		b.StartTimer()
		benchmarkChild(b, dir, names, keys, tables, "SETIO_TEST_FROM="+from)
	}
}

// benchmarkChild builds a set in a process, and reports its CPU time and memory.
func benchmarkChild(b *testing.B, dir string, files []string, keys, tables int, env string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = childEnv(dir, files, keys/tables, env)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v:\n%s", err, out)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS != "darwin" {
		rss <<= 10 // from KiB
	}
	b.ReportMetric(cpu.Seconds(), "cpu-s")
	b.ReportMetric(1e6*cpu.Seconds()/float64(keys), "cpu-µs/key")
	b.ReportMetric(float64(rss)/1e6, "peak-MB")
	b.StopTimer()
	defer b.StartTimer()
	m, _ := readSet(b, dir)
	entries, largest := countEntries(m)
	if entries != uint64(keys) {
		b.Fatalf("the set has %d keys, want %d", entries, keys)
	}
	b.ReportMetric(float64(len(m.Tables)), "tables")
	b.ReportMetric(float64(largest)*float64(len(m.Tables))/float64(entries), "largest/mean")
}
