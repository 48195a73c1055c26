package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// An answer that could not be written is no answer, not even a no.
func TestOutputFails(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.ldb"), filepath.Join(dir, "b.ldb")
	for path, in := range map[string]string{a: "ada\tlovelace\n", b: "ada\tbyron\n"} {
		if status := run([]string{"build", "-o", path}, strings.NewReader(in), io.Discard, io.Discard); status != 0 {
			t.Fatalf("build: status %d", status)
		}
	}
	for _, args := range [][]string{
		{"get", a, "ada"}, {"get", a, "ada", "grace"}, {"get", "--explain", a, "grace"}, {"scan", a}, {"diff", a, b}, {"diff", "-s", a, b},
		{"stats", a}, {"verify", a}, {"build", "-o", "-", "--format", "keys", "/dev/null"}, {"convert", a, "-o", "-"}, {"salvage", a, "-o", filepath.Join(dir, "c.ldb")}, {"help"},
	} {
		var stderr strings.Builder
		if status := run(args, strings.NewReader(""), full{}, &stderr); status != exitUsage || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("sst %v: status %d, %q", args, status, &stderr)
		}
	}
}

// A few bytes that make very long keys do not make the command take as much memory.
func TestLongSharedKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.ldb")
	w, err := table.Create(path, &table.WriterOptions{RestartInterval: 1 << 20, BlockSize: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	key := []byte(strings.Repeat("k", 1<<20))
	for range 300 {
		key = append(key, 'k')
		if err := w.Append(key, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const most = 100 << 20
	n := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := source.Open(path, source.Options{})
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	}).AllocedBytesPerOp()
	if n > most {
		t.Errorf("opening takes %d bytes, want at most %d", n, most)
	}
}
