package dbdir

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

var noError = errtest.NoError

// firstEdit returns the first edit of a MANIFEST that names a log.
func firstEdit(log uint64) []byte {
	return versions.Header{Comparer: "leveldb.BytewiseComparator", Log: log, NextFile: log + 1, LastSequence: 5}.Edit()
}

// A missing log that the MANIFEST names is damage, unless later logs show that it had no writes. Another
// listing must then have the same files.
func TestListDirWithoutLog(t *testing.T) {
	t.Parallel()
	batch := func(sequence uint64) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, sequence), "\x01\x00\x00\x00\x01\x01k\x01v"...)
	}
	for name, tt := range map[string]struct {
		files map[string][]byte
		lost  uint64
	}{
		"no other log":       {nil, 2},
		"an empty log":       {map[string][]byte{"000004.log": nil}, 0},
		"a log that goes on": {map[string][]byte{"000004.log": tabletest.Log(t, batch(6))}, 0},
		"a gap":              {map[string][]byte{"000004.log": tabletest.Log(t, batch(7))}, 2},
	} {
		files := map[string][]byte{"CURRENT": []byte("MANIFEST-000001\n"), "MANIFEST-000001": tabletest.Log(t, firstEdit(2))}
		maps.Copy(files, tt.files)
		dir := filetest.WriteDir(t, files)
		for what, o := range map[string]ListOptions{"": {}, "--all-tables": {AllTables: true}, "repair": {Repair: true}, "repair --no-log": {Repair: true, NoLogs: true}, "--no-log": {NoLogs: true}} {
			lost, wantDamage := tt.lost, min(1, int(tt.lost))
			if what == "--no-log" {
				lost, wantDamage = 0, 0
			}
			if what == "repair --no-log" && len(tt.files["000004.log"]) > 0 { // this log is left out
				lost, wantDamage = 1<<64-1, wantDamage+1
			}
			d, err := ListDir(dir, o)
			if err != nil || d.LostLog != lost || len(d.Damage) != wantDamage {
				t.Errorf("%s: ListDir %s: LostLog %d, want %d; damage %v, error %v", name, what, d.LostLog, lost, d.Damage, err)
			}
			if isMissing := tt.lost != 0 && lost != 0; isMissing != slices.Contains(d.lacks(), "CURRENT") {
				t.Errorf("%s: ListDir %s lacks %q", name, what, d.lacks())
			}
		}
	}
}

// If the next log cannot be read, it is unknown whether the missing log had writes.
func TestListDirWithoutReadableLog(t *testing.T) {
	t.Parallel()
	dir := filetest.WriteDir(t, map[string][]byte{"CURRENT": []byte("MANIFEST-000001\n"), "MANIFEST-000001": tabletest.Log(t, firstEdit(2))})
	noError(t, os.Mkdir(filepath.Join(dir, "000004.log"), 0o777))
	d, err := ListDir(dir, ListOptions{})
	noError(t, err)
	if got := fmt.Sprint(d.Damage); !strings.Contains(got, "the log may have been empty: ") || !strings.Contains(got, "000004.log: a directory, not a regular file): the writes in it may be lost") {
		t.Errorf("damage %s", got)
	}
}
