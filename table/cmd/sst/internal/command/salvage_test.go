package command

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/codecs"
)

var wouldDo = regexp.MustCompile(`use --memory (\d+MiB)`)

// writeEntries writes a table of n pairs.
func writeEntries(t *testing.T, path string, o table.WriterOptions, n int, key, value func(i int) string) {
	t.Helper()
	var pairs []workload.Pair
	for i := range n {
		pairs = append(pairs, workload.Pair{Key: []byte(key(i)), Value: []byte(value(i))})
	}
	writeFile(t, path, tabletest.Build(t, &o, pairs))
}

// A block that needs more than --memory is not damaged. Salvage says how much memory suffices, and with that it keeps
// every pair, with or without the index.
func TestSalvageSaysWhichMemoryWouldDo(t *testing.T) {
	long.Test(t)
	short := func(i int) string { return fmt.Sprintf("%06d", i) }
	longKey := func(i int) string { return short(i) + strings.Repeat("k", 3000) }
	for name, tt := range map[string]struct {
		codec      table.Codec
		n          int
		key, value func(i int) string
	}{
		"Snappy":          {table.Snappy, 3, short, func(i int) string { return strings.Repeat("abcdefgh", i<<19) }},
		"zstd":            {codecs.Zstd, 3, short, func(i int) string { return strings.Repeat("abcdefgh", i<<19) }},
		"zlib":            {codecs.Zlib, 3, short, func(i int) string { return strings.Repeat("abcdefgh", i<<19) }},
		"deflate":         {codecs.Deflate, 3, short, func(i int) string { return strings.Repeat("abcdefgh", i<<19) }},
		"no compression":  {table.NoCompression, 3, short, func(i int) string { return strings.Repeat("abcdefgh", i<<19) }},
		"index of Snappy": {table.Snappy, 4000, longKey, short},
		"index of zstd":   {codecs.Zstd, 4000, longKey, short},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.ldb")
			writeEntries(t, path, table.WriterOptions{Compression: tt.codec}, tt.n, tt.key, tt.value)
			checkMemoryNamed(t, path, path, 0)
			cut := path + ".cut"
			contents := readFile(t, path)
			writeFile(t, cut, contents[:len(contents)-48])
			checkMemoryNamed(t, path, cut, cli.ExitDamaged)
		})
	}
}

// checkMemoryNamed salvages a damaged table with the memory that salvage suggests, until that is enough.
func checkMemoryNamed(t *testing.T, sound, damaged string, want int) {
	t.Helper()
	out := damaged + ".out"
	memory := "32MiB"
	for range 5 {
		status, stdout, stderr := sst("repair", damaged, "-o", out, "--memory", memory)
		asked := wouldDo.FindAllStringSubmatch(stdout+stderr, -1)
		if asked == nil {
			if status != want {
				t.Errorf("with %s: status %d, want %d: %s", memory, status, want, stdout+stderr)
			}
			break
		}
		if _, err := os.Stat(out); err == nil && want == 0 {
			t.Errorf("a table is written of a part of %s", damaged)
		}
		memory = asked[len(asked)-1][1]
	}
	if memory == "32MiB" {
		t.Error("32MiB are enough: nothing is tested")
	}
	mustSST(t, "diff", sound, out)
}

// A damaged table that looks like another kind of file, by its start or its name, is salvaged. If no block of a table
// is found, the message names the kind of file.
func TestSalvageLooksForBlocks(t *testing.T) {
	sound := filepath.Join(t.TempDir(), "t.ldb")
	writeEntries(t, sound, table.WriterOptions{}, 2000, func(i int) string { return fmt.Sprintf("%06d", i) }, func(i int) string { return strings.Repeat("v", i%100) })
	contents := readFile(t, sound)
	cut := contents[:len(contents)-40]
	text := []byte(strings.Repeat("2024-01-01 12:00:00 started\n", 200))
	gzip := []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
	for _, tt := range []struct {
		name, file, start string
		contents          []byte
		want              string // on stderr, if nothing is found
	}{
		{"text", "t.ldb", string(text), cut, ""},
		{"gzip", "t.ldb", string(gzip), cut, ""},
		{"a log's name", "000012.log", "", cut, ""},
		{"only text", "t.ldb", string(text), text, "text, not a LevelDB table: use an .ldb, .sst or .filter file"},
		{"only gzip", "t.ldb", string(gzip), gzip, "compressed with gzip"},
		{"only the name", "000012.log", "", []byte("x"), "neither a log's writes nor a table's blocks can be read"},
		{"another engine's", "t.ldb", "", append(bytes.Clone(contents[:len(contents)-8]), "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88"...), "a RocksDB block-based table"},
	} {
		path := filepath.Join(t.TempDir(), tt.file)
		damaged := bytes.Clone(tt.contents)
		copy(damaged, tt.start)
		writeFile(t, path, damaged)
		status, stdout, stderr := sst("repair", path, "-o", path+".out")
		want := cli.ExitDamaged
		if tt.want != "" {
			want = cli.ExitUsage
		}
		if status != want || !strings.Contains(stderr, tt.want) || (tt.want == "") != strings.Contains(stdout, ": wrote ") {
			t.Errorf("%s: status %d, want %d with %q: %s%s", tt.name, status, want, tt.want, stdout, stderr)
		}
	}
}

// However much is lost, the report fits on a screen or two.
func TestSalvageSumsUpLosses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.ldb")
	writeEntries(t, path, table.WriterOptions{BlockSize: 1}, 1000, func(i int) string { return fmt.Sprintf("%06d", i) }, func(int) string { return "" })
	s := readSound(t, path)
	for i, part := range s.layout.Data {
		s.contents[part.Offset] ^= byte(i & 1)
	}
	for cut, want := range map[int]string{
		0:  "lost 400 other places, 6,800 bytes in total",
		48: "lost 400 other places, 8,813 bytes in total",
	} {
		writeFile(t, path, s.contents[:len(s.contents)-cut])
		status, stdout, _ := sst("repair", path, "-o", path+".out")
		var sums []string
		for line := range strings.Lines(stdout) {
			if _, after, ok := strings.Cut(line, ": lost "); ok && strings.Contains(line, "in total") {
				sums = append(sums, "lost "+strings.TrimSpace(after))
			}
		}
		if diff := cmp.Diff([]string{want}, sums); diff != "" || status != cli.ExitDamaged || strings.Count(stdout, "\n") > 105 {
			t.Errorf("cut by %d bytes: status %d, sums (-want +got):\n%s", cut, status, diff)
		}
	}
}

// writeRandomLog has goleveldb write random batches. It returns the log, and for each write a line as sst scan prints
// it.
func writeRandomLog(t *testing.T, r *rand.Rand) (log []byte, writes []string) {
	t.Helper()
	dir := t.TempDir()
	writeTo(t, dir, nil, func(db *leveldb.DB) (err error) {
		for range 100 + r.IntN(400) {
			var batch leveldb.Batch
			for range 1 + r.IntN(3) {
				key, value := fmt.Sprintf("key%03d", r.IntN(200)), strings.Repeat("v", r.IntN(400))
				if r.IntN(3) > 0 {
					batch.Put([]byte(key), []byte(value))
					writes = append(writes, fmt.Sprintf("%s\t%d\tset\t%s", key, len(writes)+1, value))
				} else {
					batch.Delete([]byte(key))
					writes = append(writes, fmt.Sprintf("%s\t%d\tdelete\t", key, len(writes)+1))
				}
			}
			err = errors.Join(err, db.Write(&batch, nil))
		}
		return err
	})
	return readFile(t, onlyFile(t, filepath.Join(dir, "*.log"))), writes
}

// newestLines returns the last line of each key.
func newestLines(lines []string) map[string]string {
	newest := map[string]string{}
	for _, line := range lines {
		key, _, _ := strings.Cut(line, "\t")
		newest[key] = line
	}
	return newest
}

// Salvage keeps only writes that were made to a log: all writes of a sound log, and at least those that a scan shows
// of a damaged one.
func TestSalvageOfLogs(t *testing.T) {
	long.NoRace(t)
	for seed, r := range seeds(40, 7) {
		log, writes := writeRandomLog(t, r)
		places := int(seed % 4)
		for range places {
			log[r.IntN(len(log))] ^= byte(1 + r.IntN(255))
		}
		path, out := filepath.Join(t.TempDir(), "000001.log"), filepath.Join(t.TempDir(), "out.ldb")
		writeFile(t, path, log)
		status, stdout, stderr := sst("repair", path, "-o", out)
		if want := cli.ExitDamaged; places > 0 && status != want || places == 0 && status != 0 {
			t.Fatalf("seed %d: status %d\n%s%s", seed, status, stdout, stderr)
		}
		salvaged := newestLines(strings.Split(strings.TrimSuffix(mustSST(t, "scan", out), "\n"), "\n"))
		for _, line := range salvaged {
			if !slices.Contains(writes, line) {
				t.Errorf("seed %d: %.40q was never written", seed, line)
			}
		}
		if places == 0 && len(salvaged) != len(newestLines(writes)) {
			t.Errorf("seed %d: %d keys, want %d", seed, len(salvaged), len(newestLines(writes)))
		}
		_, scanned, _ := sst("scan", path)
		for key, line := range newestLines(strings.Split(strings.TrimSuffix(scanned, "\n"), "\n")) {
			if salvaged[key] == "" || places == 0 && salvaged[key] != line {
				t.Errorf("seed %d: salvage lacks %.40q that scan shows", seed, line)
			}
		}
	}
}
