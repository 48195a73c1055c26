package command

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

// exportOf returns n records like those of a Firestore export, up to several blocks long, and their file.
func exportOf(t *testing.T, rng *rand.Rand, n int) (records [][]byte, file []byte) {
	t.Helper()
	for range n {
		var r []byte
		for size := rng.IntN(1 << rng.IntN(17)); len(r) < size; {
			r = binary.AppendUvarint(r, uint64(1+rng.IntN(30))<<3|2)
			name := strings.Repeat("entity ", rng.IntN(20)) + "\xff\t\n"
			r = append(binary.AppendUvarint(r, uint64(len(name))), name...)
		}
		records = append(records, r)
	}
	return records, tabletest.Log(t, records...)
}

// A file of records that are not batches is sound, unless it has the name of a log. scan and layout print its
// records.
func TestRecordsThatAreNoBatches(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(45, 1))
	for _, name := range []string{"output-0", "export.log", "export-000005.log"} {
		path := filepath.Join(t.TempDir(), name)
		records, file := exportOf(t, rng, 20)
		writeFile(t, path, file)
		if out := mustSST(t, "verify", path); !strings.HasPrefix(out, path+": ok, but it is a file in LevelDB's log format whose records are not write batches, such as a Firestore export: only the checksums of 20 records were checked") {
			t.Errorf("sst verify: %s", out)
		}
		if out := mustSST(t, "stats", path); !strings.Contains(out, "not write batches, such as a Firestore export\n  records  20\n") {
			t.Errorf("sst stats: %s", out)
		}
		sum := 0
		for _, r := range records {
			sum += len(r)
		}
		if out, want := mustSST(t, "stats", "--json", path), fmt.Sprintf(`"record_bytes":%d,`, sum); !strings.Contains(strings.ReplaceAll(out, " ", ""), want) {
			t.Errorf("sst stats --json: %s, want %s", out, want)
		}
		for format, decode := range map[string]func(line string) ([]byte, error){
			"tsv": printable.Unescape, "hex": hex.DecodeString, "json": func(line string) ([]byte, error) { return recordOfJSON([]byte(line)) },
		} {
			checkRecords(t, records, mustSST(t, "scan", "--format", format, path), decode)
		}
		checkRecords(t, records, mustSST(t, "layout", "--json", path), func(line string) ([]byte, error) { return recordOfJSON([]byte(line)) })
		if out := mustSST(t, "scan", "--limit", "7", path); strings.Count(out, "\n") != 7 {
			t.Errorf("scan --limit 7 prints %d lines", strings.Count(out, "\n"))
		}
		for _, args := range [][]string{{"get", path, "k"}, {"diff", path, path}, {"merge", path, "-o", path + ".ldb"}, {"repair", path, "-o", path + ".ldb"}, {"scan", "--prefix", "k", path}} {
			checkSST(t, cli.ExitUsage, "whose records are not write batches, such as a Firestore export", args...)
		}
	}
}

// recordOfJSON returns the value of a JSON object.
func recordOfJSON(line []byte) ([]byte, error) {
	var o struct {
		Value  *string
		Base64 string `json:"value_base64"`
	}
	if err := json.Unmarshal(line, &o); err != nil || o.Value != nil {
		return []byte(*o.Value), err
	}
	return base64.StdEncoding.DecodeString(o.Base64)
}

// checkRecords checks that each line is a record.
func checkRecords(t *testing.T, want [][]byte, out string, decode func(line string) ([]byte, error)) {
	t.Helper()
	var got [][]byte
	for line := range strings.Lines(out) {
		record, err := decode(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Errorf("%.100q: %v", line, err)
		}
		got = append(got, append([]byte(nil), record...))
	}
	if !cmp.Equal(want, got) {
		t.Errorf("%d records differ from the %d that were written", len(got), len(want))
	}
}

// Damage in an export is reported, and so is a batch among its records.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "export.log")
	_, file := exportOf(t, rand.New(rand.NewPCG(45, 2)), 20)
	changed := bytes.Clone(file)
	changed[len(file)/2] ^= 1
	mixed := filetest.Log(t, "\x0a\x05hello", "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x01k\x01v", "\x0a\x05hello")
	for _, contents := range [][]byte{changed, mixed} {
		writeFile(t, path, contents)
		for _, command := range []string{"verify", "stats", "scan", "layout"} {
			checkSST(t, cli.ExitDamaged, "", command, path)
		}
	}
}

// A file of damaged batches is a damaged log, whatever its name, and so is a file with the name of a log. Its sound
// writes are printed and rescued.
func TestLogsOfDamagedBatches(t *testing.T) {
	t.Parallel()
	const header, put = "\x01\x00\x00\x00\x00\x00\x00\x00", "\x01\x01k\x01v"
	for _, tt := range []struct{ name, file, record, scan string }{
		{"wrong count", "000099.log", header + "\x05\x00\x00\x00" + put, "k\t1\tset\tv\n"},
		{"wrong count", "copy.log", header + "\x05\x00\x00\x00" + put, "k\t1\tset\tv\n"},
		{"cut", "000099.log", header + "\x02\x00\x00\x00" + put + put[:4], "k\t1\tset\tv\n"},
		{"cut", "copy.log", header + "\x02\x00\x00\x00" + put + put[:4], "k\t1\tset\tv\n"},
		{"RocksDB's column families", "000099.log", header + "\x01\x00\x00\x00\x05\x01" + put[1:], ""},
		{"no batch", "000099.log", "\x0a\x05hello", ""},
	} {
		t.Run(tt.name+" "+tt.file, func(t *testing.T) {
			t.Parallel()
			path := tempFile(t, tt.file, string(filetest.Log(t, tt.record)))
			checkSST(t, cli.ExitDamaged, "", "verify", path)
			if status, stdout, stderr := sst("scan", path); status != cli.ExitDamaged || stdout != tt.scan {
				t.Errorf("sst scan: status %d, %s%s, want %s", status, stdout, stderr, tt.scan)
			}
			if tt.scan == "" {
				return
			}
			checkSST(t, cli.ExitDamaged, "", "repair", path, "-o", path+".ldb")
			checkPrints(t, tt.scan, "scan", path+".ldb")
		})
	}
}

// pebbleLog returns a log of one fragment, as Pebble writes it.
func pebbleLog(kind byte, header int) []byte {
	b := append(make([]byte, header), "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x01k\x01v"...)
	b[4], b[6], b[7] = byte(len(b)-header), kind, 2
	binary.LittleEndian.PutUint32(b, format.CRC(b[6:]))
	return b
}

// Pebble's logs are recognized, even in a directory with no other file of Pebble.
func TestPebbleLogs(t *testing.T) {
	t.Parallel()
	for kind, header := range map[byte]int{5: 11, 6: 11, 9: 19, 10: 19} {
		dir := t.TempDir()
		path := filepath.Join(dir, "000002.log")
		writeFile(t, path, pebbleLog(kind, header))
		for _, args := range [][]string{{"scan", path}, {"verify", path}, {"stats", path}, {"layout", path}, {"get", path, "k"}, {"repair", path, "-o", path + ".ldb"}, {"scan", dir}, {"verify", dir}, {"repair", dir, "-o", dir + ".new"}} {
			status, stdout, stderr := sst(args...)
			if want := fmt.Sprintf("%s: a Pebble log, or a recycled RocksDB log, not", path); status != cli.ExitUsage || !strings.Contains(stdout+stderr, want) {
				t.Errorf("kind %d: sst %q: status %d, %s%s", kind, args, status, stdout, stderr)
			}
		}
	}
}
