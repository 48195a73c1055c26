package bench

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
)

// root is the directory of README.md.
const root = ".."

func readme(t *testing.T) string { return page(t, filepath.Join(root, "README.md")) }

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	noError(t, err)
	return string(text)
}

// The program in README.md compiles, and prints the output below it.
func TestProgram(t *testing.T) {
	t.Parallel()
	programs := regexp.MustCompile("(?s)```go\n(package main\n.*?)```\n+```\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	if len(programs) != 1 {
		t.Fatalf("%d programs with output in README.md, want one", len(programs))
	}
	if diff := cmp.Diff(programs[0][2], run(t, programs[0][1])); diff != "" {
		t.Errorf("output (-README.md +real):\n%s", diff)
	}
}

func run(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "program.exe")
	noError(t, os.WriteFile(src, []byte(program), 0o666))
	build := exec.Command("go", "build", "-o", bin, src)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built := exec.Command(bin)
	built.Dir = dir
	out, err := built.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// The table of bits per key is measured.
func TestBitsPerKey(t *testing.T) {
	long.Test(t)
	t.Parallel()
	var want strings.Builder
	set := workload.W1(1_000_000)
	for _, bits := range []int{4, 6, 8, 10, 12, 14, 16, 20} {
		p := filter.NewBloom(bits)
		fmt.Fprintf(&want, "| %d | %.2g %% | %.2g %% | %.2g %% | %.2f MB |\n",
			bits, 100*measure(p, set, 35), 100*measure(p, set, len(set.Keys)),
			100*measureTable(t, filter.NewTableBloom(bits), set), float64(p.Size(1e6))/1e6)
	}
	got := strings.Join(regexp.MustCompile(`(?m)^\| \d+ \| .*MB \|\n`).FindAllString(page(t, filepath.Join(root, "filter", "README.md")), -1), "")
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("table (-measured +filter/README.md):\n%s", diff)
	}
}

// measure returns the false-positive rate of filters with perFilter keys each. In each filter, it looks up as many
// absent keys. W1's blocks have 35 keys.
func measure(p filter.Bloom, set workload.Set, perFilter int) float64 {
	wrong, lookups := 0, 0
	for i := 0; i+perFilter <= len(set.Keys); i += perFilter {
		f := filtertest.Build(p, set.Keys[i:i+perFilter]...)
		wrong += positives(func(key []byte) bool { return p.Contains(f, key) }, set.Absent[i:i+perFilter])
		lookups += perFilter
	}
	return float64(wrong) / float64(lookups)
}

// positives returns the number of keys for which contains returns true.
func positives(contains func(key []byte) bool, keys [][]byte) (n int) {
	for _, k := range keys {
		if contains(k) {
			n++
		}
	}
	return n
}

// measureTable returns the false-positive rate of a table filter with all keys.
func measureTable(t *testing.T, p filter.TablePolicy, set workload.Set) float64 {
	f, err := p.Open(filtertest.BuildTable(t, p, set.Keys...))
	noError(t, err)
	return float64(positives(f.Contains, set.Absent)) / float64(len(set.Absent))
}

// readmes returns the paths of all README.md files.
func readmes(t *testing.T) (pages []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "README.md" {
			pages = append(pages, path)
		}
		return err
	})
	noError(t, err)
	return pages
}

// Each page that says that RocksDB ingests tables names the versions that do. Exactly one page has the table of
// engines and versions.
func TestPagesNameVersionsOfRocksDB(t *testing.T) {
	t.Parallel()
	tables := 0
	for _, path := range append(readmes(t), filepath.Join(root, "table", "options.go")) {
		text := page(t, path)
		ingests := strings.Contains(text, "IngestExternalFile") || strings.Contains(text, "ingest_extern_sst")
		if ingests && (!strings.Contains(text, "up to 10.x") || !strings.Contains(text, "11.0 and later refuse")) {
			t.Errorf("%s: RocksDB ingests tables, but no versions are named", path)
		}
		tables += strings.Count(text, "| reads our tables |")
	}
	if tables != 1 {
		t.Errorf("%d tables of engines, want one", tables)
	}
}

// The links of all pages lead to existing files.
func TestLinks(t *testing.T) {
	t.Parallel()
	others, err := filepath.Glob(filepath.Join(root, "*.md"))
	noError(t, err)
	for _, path := range append(readmes(t), others...) {
		text := page(t, path)
		for _, m := range regexp.MustCompile(`\]\(([a-zA-Z0-9_./-]+)(#[a-z-]+)?\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// README.md has lookup times only in the part that command peers writes, and in the table of filters, which is
// followed by the command that measures it.
func TestTimesInReadme(t *testing.T) {
	t.Parallel()
	text := readme(t)
	part := regexp.MustCompile(`(?s)<!-- measured: .*<!-- end of measurements -->`)
	if n := len(part.FindAllString(text, -1)); n != 1 {
		t.Fatalf("%d parts that command peers writes, want one", n)
	}
	filters := regexp.MustCompile(`(?s)\n\| filter \|.*` + "`go test -bench GetAbsent ./filter/fuse`")
	if n := len(filters.FindAllString(text, -1)); n != 1 {
		t.Fatalf("%d tables of filters with the command that measures them, want one", n)
	}
	rest := filters.ReplaceAllString(part.ReplaceAllString(text, ""), "")
	if times := regexp.MustCompile(`[0-9] ?(ns|µs)\b|[0-9] ×|[0-9.]+ times\s+as|\.svg`).FindAllString(rest, -1); times != nil {
		t.Errorf("times or charts %q, want those of command peers only", times)
	}
}
