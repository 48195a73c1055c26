package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// sstDump runs RocksDB's sst_dump. If that is not installed, the test is skipped. Its exit status is 0 even if a
// table is corrupt.
func sstDump(t *testing.T, args ...string) string {
	t.Helper()
	tool, err := exec.LookPath("sst_dump")
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("SIEVETABLE_LEVELDB") != "required" {
		t.Skip("no sst_dump (Debian: rocksdb-tools)")
	}
	noError(t, err)
	out, err := exec.Command(tool, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("sst_dump %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// RocksDB's sst_dump verifies our tables, prints their properties, and scans them.
func TestSSTDumpReadsOurTables(t *testing.T) {
	t.Parallel()
	w := workload.W1(2000)
	for name, o := range map[string]table.WriterOptions{
		"Snappy":        {},
		"NoCompression": {Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10), RestartInterval: 3},
	} {
		contents, _ := pebbleTable(t, w.Keys, o)
		sound := "--file=" + file(t, contents)
		if out := sstDump(t, sound, "--command=verify"); !strings.Contains(out, "The file is ok") {
			t.Errorf("%s: sst_dump verify:\n%s", name, out)
		}
		properties := sstDump(t, sound, "--show_properties", "--command=none")
		for _, want := range []string{
			"# entries: 2000", "raw key size: 48000", "filter policy name: rocksdb.BuiltinBloomFilter",
			"comparator name: leveldb.BytewiseComparator", "SST file compression algo: " + name,
		} {
			if !strings.Contains(properties, want+"\n") {
				t.Errorf("%s: properties without %q:\n%s", name, want, properties)
			}
		}
		var want strings.Builder
		for i, k := range w.Keys {
			fmt.Fprintf(&want, "'%s' seq:0, type:1 => value %d\n", k, i)
		}
		scan := sstDump(t, sound, "--command=scan", "--verify_checksum")
		if _, entries, _ := strings.Cut(scan, "\nfrom [] to []\n"); entries != want.String() {
			t.Errorf("%s: sst_dump scans other entries than were written:\n%s", name, scan[:min(len(scan), 2000)])
		}

		contents[len(contents)/2] ^= 1
		if out := sstDump(t, "--file="+file(t, contents), "--command=scan", "--verify_checksum"); !strings.Contains(out, "Corruption: block checksum mismatch") {
			t.Errorf("%s: sst_dump does not report a flipped bit:\n%s", name, out)
		}
	}
}
