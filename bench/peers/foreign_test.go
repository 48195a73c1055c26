package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sievetable/sievetable/bench/peers/internal/pebble"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
)

// If Pebble writes a table in another format than LevelDB's, the command's error names the format: Pebble's own or
// RocksDB's.
func TestCommandNamesForeignTables(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst := buildSST(t)
	for format := sstable.TableFormatRocksDBv2; format <= sstable.TableFormatMax; format++ {
		path := filepath.Join(t.TempDir(), "table.sst")
		writePebble(t, path, sstable.WriterOptions{TableFormat: format}, tabletest.PairsOf("ada"))
		want := "a Pebble table"
		if format == sstable.TableFormatRocksDBv2 {
			want = "a RocksDB block-based table"
		}
		if status, _, stderr := sst.call("scan", path); status != 2 || !strings.HasPrefix(stderr, "sst: "+path+": "+want) {
			t.Errorf("%v: status %d, %s; want status 2 and %s", format, status, stderr, want)
		}
	}
}

// writePebble has Pebble write a table.
func writePebble(t *testing.T, path string, o sstable.WriterOptions, pairs []workload.Pair) {
	t.Helper()
	noError(t, pebble.WriteTable(vfs.Default, path, o, setAll(pairs)))
}
