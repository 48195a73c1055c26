package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// peakFile is where measured writes to.
const peakFile = "SST_TEST_PEAK"

func init() { programs["sst-measured"] = measured }

// measured is main, and says how much memory the process had at most. What the system
// says when it has ended is at least what the test had that started it.
func measured() {
	status := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	text, err := os.ReadFile("/proc/self/status")
	if err == nil {
		err = os.WriteFile(os.Getenv(peakFile), text, 0o666)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(status)
}

// peak runs the command, and returns how many bytes it had at most.
func peak(t *testing.T, stdin io.Reader, args ...string) (bytes int64, status int, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin, report := filepath.Join(dir, "sst-measured"), filepath.Join(dir, "peak") // TestMain goes by the name
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), peakFile+"="+report)
	cmd.Stdin, cmd.Stderr = stdin, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) && !strings.Contains(err.Error(), "broken pipe") {
		t.Fatal(err)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(after, &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes << 10, cmd.ProcessState.ExitCode(), errs.String()
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

// Whatever the input is, a command takes what --memory says, and up to 64 MiB beside it,
// or says which limit is in the way. No size is taken memory for before it is looked at.
func TestMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory too")
	}
	dir := t.TempDir()
	write := func(name, contents string) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(contents), 0o666)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	huge := sparse(t, filepath.Join(dir, "huge"), 1<<40)
	sparse(t, filepath.Join(dir, "overTree", "file"), 1<<30+1)
	sparse(t, filepath.Join(dir, "hugeTree", "file"), 1<<40)
	var lines, json, small strings.Builder
	value := incompressible(4<<20 - 100)
	for i := range 5 {
		fmt.Fprintf(&lines, "key%d\t%s\n", i, value)
		fmt.Fprintf(&json, `{"key":"key%d","value":"\u0041%s"}`+"\n", i, value)
		write(fmt.Sprint("tree/file", i), value)
	}
	for i := range 500_000 {
		fmt.Fprintf(&small, "%d\tvalue %d\n", i*7919%500_000, i)
	}
	lined, jsoned, smalls := write("lines", lines.String()), write("json", json.String()), write("small", small.String())
	tree := filepath.Join(dir, "tree")
	table := filepath.Join(dir, "small.ldb")
	mustSST(t, "build", "-o", table, smalls)
	contents, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	cut := write("cut.ldb", string(contents[:len(contents)-1]))

	for _, tt := range []struct {
		name  string
		args  []string
		stdin io.Reader
		want  string // on stderr; "": success
	}{
		{"a file of a byte too many", []string{"build", filepath.Join(dir, "overTree")}, nil, "file: 1073741825 bytes, and a pair of a table has less than 1073741824"},
		{"a sparse file in a directory", []string{"build", filepath.Join(dir, "hugeTree")}, nil, "file: 1099511627776 bytes, and a pair of a table has less than"},
		{"a sparse file of lines", []string{"build", huge}, nil, "huge, line 1: over 4194304 bytes, a sixteenth of --memory and 2 MiB: want --memory of 16 times the line"},
		{"a sparse file of lines in order", []string{"build", "--sorted", huge}, nil, "huge, line 1: over 4194304 bytes"},
		{"a sparse file of JSON", []string{"build", "--format", "json", huge}, nil, "huge, line 1: over 4194304 bytes"},
		{"a line without end", []string{"build"}, endless{}, "standard input, line 1: over 4194304 bytes"},
		{"a file and a line without end", []string{"build", lined, "-"}, endless{}, "standard input, line 1: over 4194304 bytes"},
		{"a sparse file that is no table", []string{"salvage", huge}, nil, "huge: its index cannot be read: 1099511627776 bytes, want at most 8388608, a quarter of --memory: --memory 4194304MiB would do"},
		{"long lines", []string{"build", lined}, nil, ""},
		{"long lines in order", []string{"build", "--sorted", "-c", "zstd", lined}, nil, ""},
		{"long lines of JSON", []string{"build", "--format", "json", "--sorted", "-c", "zstd", jsoned}, nil, ""},
		{"large files", []string{"build", "-c", "zstd", tree}, nil, ""},
		{"many lines", []string{"build", "--concurrency", "64", smalls}, nil, ""},
		{"a damaged table", []string{"salvage", cut}, nil, "damage was found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const limit = 32 << 20
			args := append(tt.args, "-o", filepath.Join(dir, "out.ldb"), "--memory", "32MiB")
			checkPeak(t, limit, tt.stdin, args, tt.want)
		})
	}
	const usual = 1 << 30 // without --memory
	for _, args := range [][]string{{"build", huge}, {"build"}} {
		t.Run("the usual memory", func(t *testing.T) {
			checkPeak(t, usual, endless{}, append(args, "-o", filepath.Join(dir, "out.ldb")), "line 1: over 69206016 bytes")
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	if err != nil || left != nil {
		t.Errorf("%v, %v are left", left, err)
	}
}

func checkPeak(t *testing.T, limit int64, stdin io.Reader, args []string, want string) {
	t.Helper()
	got, status, stderr := peak(t, stdin, args...)
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
	if raceEnabled {
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
	got, status, stderr := peak(t, nil, "build", "-o", dir+".ldb", "--memory", "32MiB", dir)
	if got > 96<<20 || status != 0 && !strings.Contains(stderr, "a sixteenth of --memory and 2 MiB") {
		t.Errorf("%d MiB, status %d, %q", got>>20, status, stderr)
	}
}
