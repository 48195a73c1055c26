package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
)

// pipe runs two commands, with the output of the first as input of the second. Both must succeed.
func pipe(t *testing.T, from, to []string) {
	t.Helper()
	r, w := io.Pipe()
	done := make(chan int)
	var fromErr, toErr bytes.Buffer
	go func() {
		status := Run(from, strings.NewReader(""), w, &fromErr)
		w.CloseWithError(io.EOF)
		done <- status
	}()
	status := Run(to, r, io.Discard, &toErr)
	r.CloseWithError(errors.New("nobody reads any more"))
	if first := <-done; first != 0 || status != 0 {
		t.Fatalf("sst %v: status %d, %s; | sst %v: status %d, %s", from, first, &fromErr, to, status, &toErr)
	}
}

func mustSST(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := sst(args...)
	if status != 0 {
		t.Fatalf("sst %v: status %d\n%s%s", args, status, stdout, stderr)
	}
	return stdout
}

// The Go source tree stays the same when it is built from the directory, scanned, built again from the scan's output,
// and converted.
func TestRoundTripOfTheGoSource(t *testing.T) {
	long.NoRace(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	noError(t, err)
	src, key := filepath.Join(strings.TrimSpace(string(root)), "src"), "net/http/server.go"
	if !long.Enabled() || testing.Short() || long.Race {
		src, key = filepath.Join(src, "net"), "http/server.go"
	}
	dir := t.TempDir()
	built, again, converted := filepath.Join(dir, "built.ldb"), filepath.Join(dir, "again.ldb"), filepath.Join(dir, "converted.ldb")
	mustSST(t, "build", "-o", built, "--memory", "32MiB", src)
	mustSST(t, "verify", built)
	pipe(t, []string{"scan", built}, []string{"build", "-o", again, "--sorted"})
	pipe(t, []string{"scan", "--format", "hex", "--reverse", built}, []string{"build", "-o", converted, "--input-format", "hex"})
	for _, other := range []string{again, converted} {
		if !bytes.Equal(readFile(t, built), readFile(t, other)) {
			t.Errorf("%s is not what was built first", filepath.Base(other))
		}
	}
	mustSST(t, "convert", built, "-o", converted, "--compression", "zstd", "--block-size", "64KiB", "--table-filter", "fuse:12", "--properties")
	mustSST(t, "verify", converted)
	mustSST(t, "diff", built, converted)
	want := readFile(t, filepath.Join(src, filepath.FromSlash(key)))
	if got := mustSST(t, "get", "--format", "raw", converted, key); got != string(want) {
		t.Errorf("%s has %d bytes, want %d others", key, len(got), len(want))
	}
}

// BenchmarkURLs runs commands on URLs in random order. Each operation processes all of them.
func BenchmarkURLs(b *testing.B) {
	dir := b.TempDir()
	in, out := filepath.Join(dir, "urls.txt"), filepath.Join(dir, "urls.ldb")
	set := workload.W3(long.Size(10_000, 1_000_000))
	var lines bytes.Buffer
	for _, i := range set.Hits {
		lines.Write(append(set.Keys[i], '\n'))
	}
	noError(b, os.WriteFile(in, lines.Bytes(), 0o666))
	for _, bm := range []struct {
		name string
		args []string
	}{
		{"build", []string{"build", "-o", out, "--input-format", "keys", in}},
		{"scan", []string{"scan", out}},
		{"verify", []string{"verify", out}},
		{"stats", []string{"stats", out}},
		{"convert", []string{"convert", out, "-o", filepath.Join(dir, "converted.ldb")}},
		{"repair", []string{"repair", out, "-o", filepath.Join(dir, "salvaged.ldb")}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				if status := Run(bm.args, strings.NewReader(""), io.Discard, io.Discard); status != 0 {
					b.Fatalf("sst %v: status %d", bm.args, status)
				}
			}
			b.ReportMetric(float64(len(set.Keys)*b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// Other engines' tables with few entries, with none, or with the empty key can be converted and salvaged, with the
// same entries. In iq80's LevelDB for Java, the metaindex and all blocks of an empty table have no restart point.
func TestGoldensAreConverted(t *testing.T) {
	long.NoRace(t)
	var paths []string
	for _, pattern := range []string{"*/empty*", "*/one.ldb", "*/bits-0.ldb", "*/byte-edges.ldb", "iq80/*.ldb"} {
		matches, err := filepath.Glob(filepath.Join(goldens, pattern))
		if err != nil || len(matches) < 2 {
			t.Fatalf("%d golden tables called %s, %v", len(matches), pattern, err)
		}
		paths = append(paths, matches...)
	}
	out := filepath.Join(t.TempDir(), "out.ldb")
	for _, path := range paths {
		for _, command := range []string{"verify", "stats", "layout"} {
			mustSST(t, command, path)
		}
		for _, command := range []string{"convert", "repair"} {
			mustSST(t, command, path, "-o", out)
			mustSST(t, "verify", out)
			mustSST(t, "diff", path, out)
		}
	}
}

// A key that LevelDB 1.17 hashed as signed bytes is found, and --explain names the hash.
func TestFilterOfSignedBytes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(goldens, "leveldb-1.17", "byte-edges.ldb")
	if got := mustSST(t, "get", "--explain", "--input-format", "hex", file, "000080"); !strings.Contains(got, "hash of signed bytes 0x") || !strings.Contains(got, "found: ") {
		t.Errorf("get --explain prints\n%s", got)
	}
	if got := mustSST(t, "get", "--explain", file, "7f7f7f", "--input-format", "hex"); strings.Contains(got, "signed") {
		t.Errorf("get --explain of bytes < 0x80 prints\n%s", got)
	}
	if got := mustSST(t, "stats", file); !strings.Contains(got, "two hashes") {
		t.Errorf("stats does not say that there are two hashes:\n%s", got)
	}
	if got := mustSST(t, "stats", filepath.Join(goldens, "leveldb", "byte-edges.ldb")); strings.Contains(got, "two hashes") {
		t.Errorf("stats of a table by LevelDB 1.23 says that there are two hashes:\n%s", got)
	}
}
