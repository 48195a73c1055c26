package command

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

func init() {
	programs["sst-measured"] = func() {
		scripttest.Measured(func() int { return Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
	}
}

// peak runs the command on endless input, and returns its peak memory.
func peak(t *testing.T, args ...string) (bytes int64, status int, stderr string) {
	t.Helper()
	return scripttest.Peak(t, "sst-measured", endless{}, args...) // TestMain goes by the name
}

// endless is an endless line.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// incompressible returns base64 text, which compression hardly shrinks.
func incompressible(n int) string {
	rng := rand.New(rand.NewPCG(5, 5))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/"[rng.IntN(64)]
	}
	return string(b)
}

// keysOf4kB returns n lines of JSON with keys of 4 kB.
func keysOf4kB(n int) string {
	var lines strings.Builder
	letters := incompressible(4000 + n)
	for i := range n {
		fmt.Fprintf(&lines, `{"key":"a%06d%s"}`+"\n", i, letters[i:i+4000])
	}
	return lines.String()
}

// json64 returns n lines of JSON with incompressible values of 3 MB in base64.
func json64(n int) string {
	value := incompressible(4_133_336)
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"key":"zz%d","value_base64":"%s"}`+"\n", i, value)
	}
	return lines.String()
}

func sparse(t *testing.T, path string, size int64) string {
	t.Helper()
	noError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	f, err := os.Create(path)
	noError(t, err)
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Skip(err) // a file system without holes
	}
	return path
}

// inputs writes inputs that need much memory, and returns their paths by name.
func inputs(t *testing.T) func(name string) string {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	sparse(t, path("huge"), 1<<40)
	sparse(t, path("overTree/file"), 1<<30+1)
	sparse(t, path("hugeTree/file"), 1<<40)
	var lines, json, small strings.Builder
	value := incompressible(4<<20 - 100)
	for i := range 5 {
		fmt.Fprintf(&lines, "key%d\t%s\n", i, value)
		fmt.Fprintf(&json, `{"key":"key%d","value":"\u0041%s"}`+"\n", i, value)
		writeFile(t, path(fmt.Sprint("tree/file", i)), value)
	}
	for i := range 500_000 {
		fmt.Fprintf(&small, "%d\tvalue %d\n", int64(i)*7919%500_000, i)
	}
	writeFile(t, path("lines"), lines.String())
	writeFile(t, path("json"), json.String())
	writeFile(t, path("hard"), keysOf4kB(3900)+json64(10))
	writeFile(t, path("small"), small.String())
	mustSST(t, "build", "-o", path("small.ldb"), path("small"))
	contents := readFile(t, path("small.ldb"))
	writeFile(t, path("cut.ldb"), contents[:len(contents)-1])
	return path
}

// Whatever the input, a command takes at most --memory plus 64 MiB, or says which limit is exceeded. It checks sizes
// before it allocates.
func TestMemory(t *testing.T) {
	long.Test(t)
	long.NoRace(t) // the race detector takes memory too
	path := inputs(t)
	for _, tt := range []struct {
		name    string
		memory  int64  // in MiB
		command string // < is the directory of inputs, > of the output; without an input, endless input is read
		want    string // on stderr; "": success
	}{
		{"a file of a byte too many", 32, "build <overTree -o >t.ldb", "file: 1073741825 bytes, but a pair has at most 1073741792"},
		{"a sparse file in a directory", 32, "build <hugeTree -o >t.ldb", "file: 1099511627776 bytes, but a pair has at most 1073741792"},
		{"a sparse file of lines", 32, "build <huge -o >t.ldb", "huge, line 1: longer than the limit of 4194304 bytes (1/16 of --memory plus 2 MiB): use a --memory of 16 times the line"},
		{"a sparse file of lines in order", 32, "build --sorted <huge -o >t.ldb", "huge, line 1: longer than the limit of 4194304 bytes"},
		{"a sparse file of JSON", 32, "build --input-format json <huge -o >t.ldb", "huge, line 1: longer than the limit of 4194304 bytes"},
		{"a line without end", 32, "build -o >t.ldb", "standard input, line 1: longer than the limit of 4194304 bytes"},
		{"a line without end in order", 32, "build --sorted -o >t.ldb", "standard input, line 1: longer than the limit of 4194304 bytes"},
		{"a sparse file that is no table", 32, "repair <huge -o >t.ldb", "huge: its index cannot be read: 1099511627776 bytes, above the limit of 8388608 (1/4 of --memory): use --memory 4194304MiB"},
		{"long lines", 32, "build <lines -o >t.ldb", ""},
		{"long lines in order", 32, "build --sorted -c zstd <lines -o >t.ldb", ""},
		{"long lines of JSON", 32, "build --sorted -c zstd --input-format json <json -o >t.ldb", ""},
		{"large files", 32, "build -c zstd <tree -o >t.ldb", ""},
		{"many lines", 32, "build --concurrency 64 <small -o >t.ldb", ""},
		{"a damaged table", 32, "repair <cut.ldb -o >t.ldb", "the input is damaged"},
		{"long keys and large values", 32, "build --input-format json -c zstd <hard -o >t.ldb", ""},
		{"long keys in small blocks", 32, "build --input-format json -c zstd --block-size 1 <hard -o >t.ldb", ""},
		{"long keys by deflate", 32, "build --input-format json -c deflate --concurrency 64 <hard -o >t.ldb", ""},
		{"long keys in large blocks", 32, "build --input-format json -c zlib --block-size 4MiB --concurrency 64 <hard -o >t.ldb", ""},
		{"long keys by many goroutines", 64, "build --input-format json -c zstd --concurrency 64 <hard -o >t.ldb", ""},
		{"long keys in very large blocks", 64, "build --input-format json -c deflate --block-size 6MiB --concurrency 64 <hard -o >t.ldb", ""},
		{"a set", 32, "build --sorted --entries-per-table 1 <lines -o >set", ""},
		{"a set of larger tables", 32, "build --sorted --entries-per-table 2 <lines -o >set", ""},
		{"a set of long keys", 32, "build --input-format json --entries-per-table 300 <hard -o >set", ""},
		{"a set of many tables", 32, "build --entries-per-table 1000 <small -o >set", ""},
		{"a sparse file and the usual memory", 1024, "build <huge -o >t.ldb", "line 1: longer than the limit of 69206016 bytes"},
		{"a line without end and the usual memory", 1024, "build -o >t.ldb", "line 1: longer than the limit of 69206016 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			args := strings.Fields(strings.NewReplacer("<", path("")+"/", ">", out+"/").Replace(tt.command))
			if tt.memory < 1024 {
				args = append(args, "--memory", fmt.Sprintf("%dMiB", tt.memory))
			}
			checkPeak(t, tt.memory<<20, args, tt.want)
			if left, err := filepath.Glob(filepath.Join(out, "*.tmp")); err != nil || left != nil {
				t.Errorf("%v, %v are left", left, err)
			}
		})
	}
}

func checkPeak(t *testing.T, limit int64, args []string, want string) {
	t.Helper()
	got, status, stderr := peak(t, args...)
	if got > limit+64<<20 {
		t.Errorf("%d MiB, want at most %d and 64", got>>20, limit>>20)
	}
	if (status == 0) != (want == "") || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q; want %q", status, stderr, want)
	}
	t.Logf("%d MiB", got>>20)
}

// A file that grows while it is read takes no more memory than a file that has the final size from the start.
func TestMemoryOfAFileThatGrows(t *testing.T) {
	long.NoRace(t) // the race detector takes memory too
	dir := filepath.Join(t.TempDir(), "tree")
	path := sparse(t, filepath.Join(dir, "file"), 1)
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		for n := 0; n < 256 && err == nil && ctx.Err() == nil; n++ {
			_, err = f.Write(make([]byte, 1<<20))
		}
		f.Close()
	})
	got, status, stderr := peak(t, "build", "-o", dir+".ldb", "--memory", "32MiB", dir)
	if got > 96<<20 || status != 0 && !strings.Contains(stderr, "1/16 of --memory plus 2 MiB") {
		t.Errorf("%d MiB, status %d, %q", got>>20, status, stderr)
	}
	stop()
	writing.Wait()
}

// writePairs writes pairs of about total bytes. size returns the length of a value by its position in the file, from
// 0 to 1.
func writePairs(t *testing.T, path string, total int, key func(i int) string, size func(far float64) int) {
	t.Helper()
	f, err := os.Create(path)
	noError(t, err)
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	value := incompressible(1 << 20)
	for i, n := 0, 0; n < total; i++ {
		written, err := fmt.Fprintf(out, "%s\t%s\n", key(i), value[:size(float64(n)/float64(total))])
		noError(t, err)
		n += written
	}
	noError(t, out.Flush())
}

// Sorting takes no more than --memory plus 64 MiB, whatever the sizes of pairs, and wherever in the input they
// change.
func TestMemoryOfSorting(t *testing.T) {
	long.Test(t)
	long.NoRace(t) // the race detector takes memory too
	rng := rand.New(rand.NewPCG(8, 8))
	random := func(int) string { return fmt.Sprintf("%016x", rng.Uint64()) }
	equal := func(int) string { return "key" }
	for name, tt := range map[string]struct {
		key  func(i int) string
		size func(far float64) int
	}{
		"no values":               {random, func(float64) int { return 0 }},
		"values of all sizes":     {random, func(float64) int { return rng.IntN(1 << rng.IntN(20)) }},
		"values of 0 and of 1 MB": {random, func(float64) int { return rng.IntN(1000) / 999 << 20 }},
		"small, then large":       {random, func(far float64) int { return int(far*2) * 1000 }},
		"large, then small":       {random, func(far float64) int { return 1000 - int(far*2)*1000 }},
		"equal keys":              {equal, func(float64) int { return rng.IntN(100) }},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pairs")
			writePairs(t, path, 100<<20, tt.key, tt.size)
			for _, limit := range []int64{32 << 20, 256 << 20} {
				args := []string{"build", "--on-duplicate", "last", "--input-format", "raw", "-o", path + ".ldb", "--memory", fmt.Sprint(limit), path}
				checkPeak(t, limit, args, "")
			}
		})
	}
}
