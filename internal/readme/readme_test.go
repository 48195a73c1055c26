// Package readme holds that what README.md shows is so.
package readme

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
)

const root = "../.."

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The quick start compiles, and prints what stands below it.
func TestQuickStart(t *testing.T) {
	m := regexp.MustCompile("(?s)```go\n(package main\n.*?)```\n+```\n(.*?)```").FindStringSubmatch(readme(t))
	if m == nil {
		t.Fatal("no program with output in README.md")
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "quickstart.exe")
	if err := os.WriteFile(src, []byte(m[1]), 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", bin, src)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(bin)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if diff := cmp.Diff(m[2], string(out)); diff != "" {
		t.Errorf("output (-README.md +real):\n%s", diff)
	}
}

// The table of bits per key is computed.
func TestBitsPerKey(t *testing.T) {
	var want strings.Builder
	for _, bits := range []int{4, 6, 8, 10, 12, 14, 16, 20} {
		s, err := filter.SizeForBits(1e6, bits)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "| %d | %d | %.4f %% | %.2f MB |\n", bits, s.K, 100*s.Rate, float64(s.Bytes)/1e6)
	}
	got := strings.Join(regexp.MustCompile(`(?m)^\| \d+ \| .*MB \|\n`).FindAllString(readme(t), -1), "")
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("table (-computed +README.md):\n%s", diff)
	}
}

// Links lead to files that are there.
func TestLinks(t *testing.T) {
	for _, m := range regexp.MustCompile(`\[[^\]]+\]\(([a-zA-Z./]+)\)`).FindAllStringSubmatch(readme(t), -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
}
