package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sievetable/sievetable/internal/long"
)

// Tables that Pebble writes in formats which are not LevelDB's are named for what they
// are: its own, and RocksDB's.
func TestCommandNamesForeignTables(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst := buildSST(t)
	for format := sstable.TableFormatRocksDBv2; format <= sstable.TableFormatMax; format++ {
		path := filepath.Join(t.TempDir(), "table.sst")
		writePebble(t, path, format)
		want := "a Pebble table"
		if format == sstable.TableFormatRocksDBv2 {
			want = "a RocksDB block-based table"
		}
		out, err := exec.Command(string(sst), "scan", path).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.HasPrefix(string(out), "sst: "+path+": "+want) {
			t.Errorf("%v: %v, %s; want status 2 and %s", format, err, out, want)
		}
	}
}

func writePebble(t *testing.T, path string, format sstable.TableFormat) {
	t.Helper()
	f, err := vfs.Default.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), sstable.WriterOptions{TableFormat: format})
	if err := errors.Join(w.Set([]byte("ada"), []byte("lovelace")), w.Close()); err != nil {
		t.Fatal(err)
	}
}
