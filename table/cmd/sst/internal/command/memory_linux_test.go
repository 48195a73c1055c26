package command

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

func init() {
	programs["sst-measured"] = func() {
		scripttest.Measured(func() int { return Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
	}
}

// peak runs the command on input without end, and returns how many bytes it had at most.
func peak(t *testing.T, args ...string) (bytes int64, status int, stderr string) {
	t.Helper()
	return scripttest.Peak(t, "sst-measured", endless{}, args...) // TestMain goes by the name
}

// endless is bytes without end, and without a line's.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// incompressible returns text that no compression makes much smaller.
func incompressible(n int) string {
	rng := rand.New(rand.NewPCG(5, 5))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/"[rng.IntN(64)]
	}
	return string(b)
}

// keysOf4kB returns lines of JSON with keys of 4 kB, as many as an index may have.
func keysOf4kB(n int) string {
	var lines strings.Builder
	letters := incompressible(4000 + n)
	for i := range n {
		fmt.Fprintf(&lines, `{"key":"a%06d%s"}`+"\n", i, letters[i:i+4000])
	}
	return lines.String()
}

// json64 returns lines of JSON with values of 3 MB, which no compression makes smaller.
func json64(n int) string {
	rng := rand.New(rand.NewPCG(6, 6))
	value := make([]byte, 3_100_000)
	for i := range value {
		value[i] = byte(rng.Uint32())
	}
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"key":"zz%d","value_base64":"%s"}`+"\n", i, base64.StdEncoding.EncodeToString(value))
	}
	return lines.String()
}

func sparse(t *testing.T, path string, size int64) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Skip(err) // a file system without holes
	}
	return path
}

// inputs writes what is hard on memory, and returns the paths by name.
func inputs(t *testing.T) func(name string) string {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, contents string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path(name)), 0o777), os.WriteFile(path(name), []byte(contents), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	sparse(t, path("huge"), 1<<40)
	sparse(t, path("overTree/file"), 1<<30+1)
	sparse(t, path("hugeTree/file"), 1<<40)
	var lines, json, small strings.Builder
	value := incompressible(4<<20 - 100)
	for i := range 5 {
		fmt.Fprintf(&lines, "key%d\t%s\n", i, value)
		fmt.Fprintf(&json, `{"key":"key%d","value":"\u0041%s"}`+"\n", i, value)
		write(fmt.Sprint("tree/file", i), value)
	}
	for i := range 500_000 {
		fmt.Fprintf(&small, "%d\tvalue %d\n", int64(i)*7919%500_000, i)
	}
	write("lines", lines.String())
	write("json", json.String())
	write("hard", keysOf4kB(3900)+json64(10))
	write("small", small.String())
	mustSST(t, "build", "-o", path("small.ldb"), path("small"))
	contents := readFile(t, path("small.ldb"))
	write("cut.ldb", string(contents[:len(contents)-1]))
	return path
}

// Whatever the input is, a command takes what --memory says, and up to 64 MiB beside it,
// or says which limit is in the way. No size is taken memory for before it is looked at.
func TestMemory(t *testing.T) {
	long.Test(t)
	if long.Race {
		t.Skip("the race detector takes memory too")
	}
	path := inputs(t)
	for _, tt := range []struct {
		name, command string
		input         string // "": what has no end
		want          string // on stderr; "": success
	}{
		{"a file of a byte too many", "build", "overTree", "file: 1073741825 bytes, but a pair must be shorter than 1073741824"},
		{"a sparse file in a directory", "build", "hugeTree", "file: 1099511627776 bytes, but a pair must be shorter than"},
		{"a sparse file of lines", "build", "huge", "huge, line 1: longer than the limit of 4194304 bytes (1/16 of --memory plus 2 MiB): use a --memory of 16 times the line"},
		{"a sparse file of lines in order", "build --sorted", "huge", "huge, line 1: longer than the limit of 4194304 bytes"},
		{"a sparse file of JSON", "build --input-format json", "huge", "huge, line 1: longer than the limit of 4194304 bytes"},
		{"a line without end", "build", "", "standard input, line 1: longer than the limit of 4194304 bytes"},
		{"a line without end in order", "build --sorted", "", "standard input, line 1: longer than the limit of 4194304 bytes"},
		{"a sparse file that is no table", "repair", "huge", "huge: its index cannot be read: 1099511627776 bytes, above the limit of 8388608 (1/4 of --memory): use --memory 4194304MiB"},
		{"long lines", "build", "lines", ""},
		{"long lines in order", "build --sorted -c zstd", "lines", ""},
		{"long lines of JSON", "build --sorted -c zstd --input-format json", "json", ""},
		{"large files", "build -c zstd", "tree", ""},
		{"many lines", "build --concurrency 64", "small", ""},
		{"a damaged table", "repair", "cut.ldb", "the input is damaged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append(strings.Fields(tt.command), "-o", path("out.ldb"), "--memory", "32MiB")
			if tt.input != "" {
				args = append(args, path(tt.input))
			}
			checkPeak(t, 32<<20, args, tt.want)
		})
	}
	for _, tt := range []struct {
		memory  int64
		command string
	}{
		{32 << 20, "-c zstd"},
		{32 << 20, "-c zstd --block-size 1"},
		{32 << 20, "-c deflate --concurrency 64"},
		{32 << 20, "-c zlib --block-size 4MiB --concurrency 64"},
		{64 << 20, "-c zstd --concurrency 64"},
		{64 << 20, "-c deflate --block-size 6MiB --concurrency 64"},
	} {
		t.Run(fmt.Sprintf("long keys and large values, %d MiB, %s", tt.memory>>20, tt.command), func(t *testing.T) {
			args := append(strings.Fields(tt.command), "-o", path("out.ldb"), "--memory", fmt.Sprint(tt.memory), path("hard"))
			checkPeak(t, tt.memory, append([]string{"build", "--input-format", "json"}, args...), "")
		})
	}
	for _, args := range [][]string{
		{"--sorted", path("lines"), "--entries-per-table", "1"},
		{"--sorted", path("lines"), "--entries-per-table", "2"},
		{"--input-format", "json", path("hard"), "--entries-per-table", "300"},
		{path("small"), "--entries-per-table", "1000"},
	} {
		t.Run("a set", func(t *testing.T) {
			checkPeak(t, 32<<20, append([]string{"build", "--memory", "32MiB", "-o", filepath.Join(t.TempDir(), "set")}, args...), "")
		})
	}
	for _, args := range [][]string{{"build", path("huge")}, {"build"}} {
		t.Run("the usual memory", func(t *testing.T) {
			checkPeak(t, 1<<30, append(args, "-o", path("out.ldb")), "line 1: longer than the limit of 69206016 bytes")
		})
	}
	if left, err := filepath.Glob(path("*.tmp")); err != nil || left != nil {
		t.Errorf("%v, %v are left", left, err)
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

// A file that grows while it is read takes no more memory than one that had the size
// before.
func TestMemoryOfAFileThatGrows(t *testing.T) {
	if long.Race {
		t.Skip("the race detector takes memory too")
	}
	dir := filepath.Join(t.TempDir(), "tree")
	path := sparse(t, filepath.Join(dir, "file"), 1)
	stop := make(chan bool)
	done := make(chan bool)
	go func() {
		defer close(done)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return
		}
		defer f.Close()
		more := bytes.Repeat([]byte("x"), 1<<20)
		for n := 0; n < 256; n++ {
			select {
			case <-stop:
				return
			default:
				f.Write(more)
			}
		}
	}()
	checkGrowing(t, dir)
	close(stop)
	<-done
}

func checkGrowing(t *testing.T, dir string) {
	t.Helper()
	got, status, stderr := peak(t, "build", "-o", dir+".ldb", "--memory", "32MiB", dir)
	if got > 96<<20 || status != 0 && !strings.Contains(stderr, "1/16 of --memory plus 2 MiB") {
		t.Errorf("%d MiB, status %d, %q", got>>20, status, stderr)
	}
}
