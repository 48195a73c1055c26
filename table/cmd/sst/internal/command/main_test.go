package command

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// If the output cannot be written, every command fails, even if the answer is negative.
func TestOutputFails(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.ldb"), filepath.Join(dir, "b.ldb")
	for path, in := range map[string]string{a: "ada\tlovelace\n", b: "ada\tbyron\n"} {
		mustSST(t, "build", "-o", path, tempFile(t, "in.tsv", in))
	}
	words, only := tempFile(t, "words", "a\n"), filepath.Join(dir, "only.filter")
	mustSST(t, "build", "-o", only, "--filter-only", "--table-filter", "table-bloom", "--input-format", "keys", words)
	for _, args := range [][]string{
		{"get", a, "ada"}, {"get", a, "ada", "grace"}, {"get", "--explain", a, "grace"}, {"scan", a}, {"diff", a, b}, {"diff", "-s", a, b},
		{"stats", a}, {"stats", dir}, {"stats", "--try", a}, {"stats", "--try", "--json", a}, {"layout", a}, {"layout", "--json", a}, {"verify", a}, {"build", "-o", "-", "--input-format", "keys", "/dev/null"}, {"build", "-o", filepath.Join(dir, "d.ldb"), "--manifest-line", "-", "--input-format", "keys", words}, {"manifest", a}, {"convert", a, "-o", "-"}, {"merge", only, "-o", "-"}, {"repair", a, "-o", filepath.Join(dir, "c.ldb")}, {"report", a, "-o", "-"}, {"help"},
	} {
		var stderr strings.Builder
		if status := Run(args, strings.NewReader(""), full{}, &stderr); status != cli.ExitUsage || strings.Count(stderr.String(), "no space left") != 1 {
			t.Errorf("sst %v: status %d, %q", args, status, &stderr)
		}
	}
}

// longKeys returns a table with one data block, in which few bytes encode very long keys: n keys that share that many
// bytes and end in trailer.
func longKeys(shared, n int, trailer string) []byte {
	var f rawtable.File
	var b strings.Builder
	b.WriteString(rawtable.Entry(0, strings.Repeat("k", shared)+trailer, ""))
	for i := range n {
		b.WriteString(rawtable.Entry(uint64(shared), string(binary.BigEndian.AppendUint32(nil, uint32(i)))+trailer, ""))
	}
	h := f.Stored(string(snappy.Encode(nil, []byte(b.String()+rawtable.Restarts(0)))), 1)
	metaindex := f.Block(rawtable.Entries())
	return f.Footer(metaindex, f.Block(rawtable.Entries("l"+trailer, h)))
}

// Opening a table in which few bytes encode very long keys does not take as much memory as the keys.
func TestLongSharedKeys(t *testing.T) {
	long.Test(t)
	path := filepath.Join(t.TempDir(), "t.ldb")
	writeFile(t, path, longKeys(1<<20, 300, ""))
	const most = 100 << 20
	n := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := dbfile.Open(path, dbfile.Options{})
			noError(b, err)
			f.Close()
		}
	}).AllocedBytesPerOp()
	if n > most {
		t.Errorf("opening takes %d bytes, want at most %d", n, most)
	}
}

// Commands on such a table do not take as much time either: 20,000 keys of 1.5 MB are 30 GB.
func TestLongSharedKeysTakeLinearTime(t *testing.T) {
	long.NoRace(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "t.ldb")
	for _, trailer := range []string{"", "\x01\x05\x00\x00\x00\x00\x00\x00"} { // users' keys, internal keys
		writeFile(t, path, longKeys(1_500_000, 20_000, trailer))
		for _, args := range [][]string{
			{"stats", path}, {"verify", path}, {"layout", path}, {"get", path, "k"}, {"scan", "--limit", "1", path},
			{"report", path, "-o", filepath.Join(dir, "t.html")},
		} {
			if status, _, stderr := sst(args...); status > cli.ExitNegative {
				t.Errorf("sst %v: status %d, %s", args, status, stderr)
			}
		}
	}
}

// If a table's index would not fit into --memory, repair fails before all is read, and says which flags would help.
func TestIndexIsHeldToMemory(t *testing.T) {
	long.Test(t)
	dir := t.TempDir()
	path, out := filepath.Join(dir, "t.ldb"), filepath.Join(dir, "out.ldb")
	writeFile(t, path, longKeys(100_000, 2_000, ""))
	const said = "the table's index is above the limit of 16777216 bytes (1/2 of --memory): use a larger --block-size or --memory"
	checkSST(t, cli.ExitUsage, said, "repair", path, "-o", out, "--memory", "32MiB", "--block-size", "4KiB")
	mustSST(t, "repair", path, "-o", out, "--memory", "32MiB", "--block-size", "2MiB")
	mustSST(t, "verify", out)
	mustSST(t, "diff", path, out)
}

// writeFile writes a file, and creates its directories.
func writeFile[T string | []byte](t *testing.T, path string, contents T) {
	t.Helper()
	noError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(contents), 0o666)))
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	contents, err := os.ReadFile(path)
	noError(t, err)
	return contents
}
