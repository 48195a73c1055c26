package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/codecs"
)

// pick returns one of the values.
func pick[T any](rng *rand.Rand, values ...T) T { return values[rng.IntN(len(values))] }

// extremeTable returns a table that the library has written with random, often extreme options.
func extremeTable(t *testing.T, rng *rand.Rand) []byte {
	t.Helper()
	bits := []int{1, 2, 10, 43, 44, 60, 999, 1000, 1001, 2000}
	o := table.WriterOptions{
		FilterBaseLg: 1 + rng.IntN(30), BlockSize: pick(rng, 1, 100, 4096, 64<<20, 512<<20), RestartInterval: pick(rng, 1, 16, math.MaxInt32),
		Compression:       pick(rng, table.NoCompression, table.Snappy, codecs.Zstd, codecs.Zlib, codecs.Deflate),
		FilterPolicy:      pick(rng, nil, filter.Policy(filter.NewBloom(pick(rng, bits...))), filter.Rename(filter.NewBloom(10), "unknown")),
		TableFilterPolicy: pick(rng, nil, filter.TablePolicy(filter.NewTableBloom(pick(rng, bits...)))),
		Properties:        rng.IntN(2) == 0,
	}
	var pairs []workload.Pair
	for i := range pick(rng, 0, 1, 3, 500) {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "key%06d", i), Value: bytes.Repeat([]byte("v"), rng.IntN(100))})
	}
	return tabletest.Build(t, &o, pairs)
}

// forgedTable returns a table whose filters match every key, and whose properties have random, often absurd values.
func forgedTable(_ *testing.T, rng *rand.Rand) []byte {
	var f rawtable.File
	var index []string
	for i := range 1 + rng.IntN(5) {
		var entries []string
		for j := range 12 {
			entries = append(entries, fmt.Sprintf("key%d%02d", i, j), "value")
		}
		index = append(index, fmt.Sprintf("key%d", i+1), f.Block(rawtable.Entries(entries...)))
	}
	numbers := []uint64{0, 1, 2, 4096, 600 << 20, 1 << 31, 1 << 62, math.MaxUint64}
	number := func() string { return string(binary.AppendUvarint(nil, pick(rng, numbers...))) }
	k := byte(1 + rng.IntN(255))
	ones := strings.Repeat("\xff", pick(rng, 8, 64, 1000))
	blocks := ones + string(k)
	blocks += rawtable.Restarts(0, uint32(len(blocks)))
	blocks = blocks[:len(blocks)-4] + string(binary.LittleEndian.AppendUint32(nil, uint32(len(ones)+1))) + string([]byte{byte(rng.IntN(31))})
	whole := strings.Repeat("\xff", 64) + string([]byte{k}) + "\x01\x00\x00\x00"
	metaindex := f.Block(rawtable.Entries(
		"filter.leveldb.BuiltinBloomFilter2", f.Block(blocks),
		"fullfilter.rocksdb.BuiltinBloomFilter", f.Block(whole),
		"rocksdb.properties", f.Block(rawtable.Entries("sievetable.block.size", number(), "sievetable.filter.base.lg", number(), "sievetable.restart.interval", number())),
	))
	return f.Footer(metaindex, f.Block(rawtable.Entries(index...)))
}

// Settings that are retained from a table never make a command fail, since the user has not asked for them.
func TestWhatIsTakenOverNeverEndsACommand(t *testing.T) {
	long.NoRace(t)
	rng := rand.New(rand.NewPCG(13, 1))
	dir := t.TempDir()
	for name, tableOf := range map[string]func(*testing.T, *rand.Rand) []byte{"extreme": extremeTable, "forged": forgedTable} {
		for i := range 12 {
			path := filepath.Join(dir, fmt.Sprintf("%s%d.ldb", name, i))
			writeFile(t, path, tableOf(t, rng))
			checkRetained(t, path)
			damageSome(t, rng, path)
			checkRetained(t, path)
		}
	}
}

// The data blocks of a table without properties stay as they are, to the byte: their size
// and their restart interval are estimated.
func TestBlocksStayWithoutProperties(t *testing.T) {
	long.NoRace(t)
	path := filepath.Join(t.TempDir(), "t.ldb")
	for _, size := range []int{1, 700, 4096, 20_000, 1 << 20} {
		for _, interval := range []int{1, 3, 16, 50} {
			rng := rand.New(rand.NewPCG(uint64(size), uint64(interval)))
			o := table.WriterOptions{BlockSize: size, RestartInterval: interval}
			key := func(i int) string { return fmt.Sprintf("key%06d", i) }
			writeEntries(t, path, o, 2000, key, func(int) string { return strings.Repeat("v", rng.IntN(200)) })
			want := dataBlocks(t, path)
			for _, command := range []string{"convert", "repair"} {
				mustSST(t, command, path, "-o", path+".out")
				if got := dataBlocks(t, path+".out"); !bytes.Equal(got, want) {
					t.Errorf("%s, blocks of %d, restart interval %d: %d bytes of data blocks, want the %d of the table", command, size, interval, len(got), len(want))
				}
			}
		}
	}
}

// If no data block gets smaller by compression, the index shows the compression.
func TestCompressionOfIndexIsTakenOver(t *testing.T) {
	long.NoRace(t)
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "%06d\n", i)
	}
	for name := range compressions {
		dir := t.TempDir()
		input, file, db := filepath.Join(dir, "lines.txt"), filepath.Join(dir, "t.ldb"), filepath.Join(dir, "db")
		writeFile(t, input, lines.String())
		flags := []string{"--block-size", "1", "--compression", name, "-o"}
		mustSST(t, append([]string{"build", input}, append(flags, file)...)...)
		mustSST(t, "convert", file, "-o", file+".new")
		mustSST(t, append([]string{"build", "--database", input}, append(flags, db)...)...)
		mustSST(t, "merge", "--database", "--block-size", "1", db, "-o", db+".new")
		tableOf := func(dir string) string { return filepath.Join(dir, "000002.ldb") }
		for before, after := range map[string]string{file: file + ".new", tableOf(db): tableOf(db + ".new")} {
			if !bytes.Equal(readFile(t, before), readFile(t, after)) {
				t.Errorf("%s: %s is not like %s", name, after, before)
			}
		}
	}
}

// A table without entries shows no compression.
func TestCompressionOfTableWithoutEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.ldb")
	writeFile(t, path, string(tabletest.Build(t, nil, nil)))
	file, err := dbfile.OpenDamaged(path, dbfile.Options{})
	noError(t, err)
	defer file.Close() // it was only read
	blocks := map[string]int{}
	if sampleCompression(file, blocks); len(blocks) > 0 {
		t.Errorf("blocks by compression: %v, want none", blocks)
	}
}

// dataBlocks returns the bytes of the data blocks of a table.
func dataBlocks(t *testing.T, path string) []byte {
	t.Helper()
	data := layoutOf(t, path).Data
	last := data[len(data)-1]
	return readFile(t, path)[:last.Offset+last.Length]
}

// checkRetained checks that convert and repair succeed on a table, or fail only because it is damaged.
func checkRetained(t *testing.T, path string) {
	t.Helper()
	sound, _, _ := sst("verify", "-q", path)
	for _, command := range [][]string{{"convert"}, {"repair"}, {"repair", "--memory", "32MiB"}} {
		out := path + ".out"
		status, _, stderr := sst(append(command, path, "-o", out)...)
		if status != sound && status != 0 || strings.Contains(stderr, "--") && !strings.Contains(stderr, "repair") {
			t.Errorf("sst %s %s: status %d, of verify %d, %s", command, filepath.Base(path), status, sound, stderr)
		}
		if status == 0 {
			mustSST(t, "verify", out)
			mustSST(t, "diff", path, out)
		}
		os.Remove(out) // if it is there
	}
}

// damageSome changes a byte in some of a table's data blocks.
func damageSome(t *testing.T, rng *rand.Rand, path string) {
	t.Helper()
	blocks := len(layoutOf(t, path).Data)
	for _, i := range rng.Perm(blocks)[:rng.IntN(blocks+1)] {
		flipBlock(t, path, i)
	}
}

// The kind and the length of a table filter are retained.
func TestTableFilterIsTakenOver(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	names := []string{"none", "fuse:4", "fuse:8", "fuse:10", "fuse:12", "fuse:14", "fuse:16"}
	for bits := 1; bits <= 40; bits++ {
		names = append(names, tablefilter.TableBloom(bits))
	}
	path := filepath.Join(t.TempDir(), "t.ldb")
	for _, name := range names {
		for _, n := range []int{1, 100, 3000} {
			before := withTableFilter(t, path, name, n)
			if want := min(1, len(name)-len(tablefilter.None)); len(before.Filters) != want {
				t.Fatalf("%s of %d keys: %d filters, want %d", name, n, len(before.Filters), want)
			}
			f := writerFlags{given: func(string) bool { return false }}
			f.retainSettings(before, maxBlockSize)
			after := withTableFilter(t, path, f.tableFilter, n)
			if diff := cmp.Diff(before.Filters, after.Filters); diff != "" {
				t.Errorf("%s of %d keys is retained as %s:\n%s", name, n, f.tableFilter, diff)
			}
		}
	}
}

// withTableFilter writes a table of n keys, and returns its statistics.
func withTableFilter(t *testing.T, path, name string, n int) *tablestats.Stats {
	t.Helper()
	policy, err := tablefilter.Parse(name)
	noError(t, err)
	key := func(i int) string { return fmt.Sprintf("key%06d", i) }
	writeEntries(t, path, table.WriterOptions{TableFilterPolicy: policy}, n, key, func(int) string { return "" })
	f, err := dbfile.Open(path, dbfile.Options{})
	noError(t, err)
	defer f.Close()
	stats, err := tablestats.Collect(f, f.Wrap, tablestats.NewBudget(1))
	noError(t, err)
	return stats
}
