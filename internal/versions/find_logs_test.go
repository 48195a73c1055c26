package versions

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/tabletest"
)

// logOf returns a log of batches with these sequence numbers. Each batch sets one key.
func logOf(t *testing.T, sequences ...uint64) string {
	t.Helper()
	var batches []string
	for _, s := range sequences {
		batches = append(batches, string(binary.LittleEndian.AppendUint64(nil, s))+"\x01\x00\x00\x00\x01\x01k\x01v")
	}
	return string(tabletest.Log(t, batches...))
}

// A missing log that the MANIFEST names is not lost if the sequence numbers of the logs after it continue from the
// MANIFEST's last one.
func TestFindLogs(t *testing.T) {
	t.Parallel()
	const (
		named    = "\x02\x02\x03\x03\x04\x05"   // log 2, and the last sequence number 5
		table    = "\x07\x00\x05\x10\x01a\x01a" // 000005.ldb
		previous = named + "\x09\x01"           // and log 1
		counted  = "\x02\x02\x03\x06\x04\x09"   // writes up to 9 are in log 2
	)
	goesOn, gap := logOf(t, 6, 7), logOf(t, 7, 8)
	output := string(tabletest.Build(t, nil, tabletest.PairsOf("k\x01\x05\x00\x00\x00\x00\x00\x00"))) // sequence number 5
	type files = map[string]string
	for name, tt := range map[string]struct {
		edits []string
		files files
		torn  bool // the MANIFEST
		lost  []uint64
	}{
		"the next log is empty":                  {edits: []string{named}, files: files{"000004.log": ""}},
		"the next log goes on":                   {edits: []string{named}, files: files{"000004.log": goesOn}},
		"a later log goes on":                    {edits: []string{named}, files: files{"000004.log": "", "000006.log": goesOn}},
		"its end is torn":                        {edits: []string{named}, files: files{"000004.log": goesOn + goesOn[:9]}},
		"a newer table is listed":                {edits: []string{named + table}, files: files{"000004.log": "", "000005.ldb": ""}},
		"a newer table is obsolete":              {edits: []string{named + table, "\x06\x00\x05"}, files: files{"000004.log": "", "000005.ldb": ""}},
		"an older table is obsolete":             {edits: []string{named}, files: files{"000004.log": "", "000001.ldb": ""}},
		"an unlisted table, but no gap":          {edits: []string{named}, files: files{"000004.log": goesOn, "000005.ldb": ""}},
		"no later log":                           {edits: []string{named}, lost: []uint64{2}},
		"an older log":                           {edits: []string{named}, files: files{"000001.log": goesOn}, lost: []uint64{2}},
		"a gap":                                  {edits: []string{named}, files: files{"000004.log": gap}, lost: []uint64{2}},
		"a gap behind an empty log":              {edits: []string{named}, files: files{"000004.log": "", "000006.log": gap}, lost: []uint64{2}},
		"numbers that step back":                 {edits: []string{named}, files: files{"000004.log": logOf(t, 5, 6)}, lost: []uint64{2}},
		"damage before the first write":          {edits: []string{named}, files: files{"000004.log": logOf(t, 4)[:20] + goesOn}, lost: []uint64{2}},
		"a log that is cut in its first write":   {edits: []string{named}, files: files{"000004.log": goesOn[:20]}, lost: []uint64{2}},
		"a log of zeros":                         {edits: []string{named}, files: files{"000004.log": "\x00\x00\x00\x00"}, lost: []uint64{2}},
		"no log":                                 {edits: []string{named}, files: files{"000004.log": "garbage, not a log"}, lost: []uint64{2}},
		"a newer table is not listed":            {edits: []string{named}, files: files{"000004.log": "", "000005.ldb": ""}, lost: []uint64{2}},
		"a newer .sst is not listed":             {edits: []string{named}, files: files{"000004.log": "", "000005.sst": ""}, lost: []uint64{2}},
		"a killed compaction's table":            {edits: []string{named}, files: files{"000004.log": "", "000005.ldb": output}, lost: []uint64{2}},
		"a MANIFEST that is cut":                 {edits: []string{named}, files: files{"000004.log": ""}, torn: true, lost: []uint64{2}},
		"C++ LevelDB":                            {edits: []string{"\x02\x02\x09\x00\x03\x06\x04\x09"}, files: files{"000004.log": ""}, lost: []uint64{2}},
		"C++ LevelDB, and a log that goes on":    {edits: []string{"\x02\x02\x09\x00\x03\x06\x04\x09"}, files: files{"000004.log": logOf(t, 10)}, lost: []uint64{2}},
		"two empty logs":                         {edits: []string{named}, files: files{"000004.log": "", "000006.log": ""}, lost: []uint64{2}},
		"writes that the MANIFEST counts":        {edits: []string{named, counted}, files: files{"000007.log": ""}, lost: []uint64{2}},
		"writes that it counts, and a later log": {edits: []string{named, counted}, files: files{"000007.log": logOf(t, 10)}, lost: []uint64{2}},
		"a previous log is missing":              {edits: []string{previous}, files: files{"000002.log": goesOn}, lost: []uint64{1}},
		"the log after the previous one":         {edits: []string{previous}, files: files{"000001.log": goesOn}, lost: []uint64{2}},
		"both are missing":                       {edits: []string{previous}, files: files{"000004.log": ""}, lost: []uint64{1, 2}},
	} {
		dir := writeEdits(t, tt.edits...)
		for file, contents := range tt.files {
			noError(t, os.WriteFile(filepath.Join(dir, file), []byte(contents), 0o666))
		}
		if tt.torn {
			appendTo(t, filepath.Join(dir, "MANIFEST-000001"), "\x01\x02\x03\x04\xff\x00\x01cut")
		}
		if diff := cmp.Diff(tt.lost, findLost(t, dir, nil)); diff != "" {
			t.Errorf("%s: lost (-want +got):\n%s", name, diff)
		}
	}
}

// After the MANIFEST was read, an engine can write a table from the log, name the next log and remove this one. The
// next log is empty then, too.
func TestFindLogsOfChangedManifest(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(dir string){
		"another log": func(dir string) {
			appendTo(t, filepath.Join(dir, "MANIFEST-000001"), string(tabletest.Log(t, "\x02\x04\x04\x09")))
		},
		"another MANIFEST": func(dir string) {
			appendTo(t, filepath.Join(dir, "MANIFEST-000005"), string(tabletest.Log(t, complete+"\x02\x02")))
			noError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000005\n"), 0o666))
		},
		"no CURRENT": func(dir string) { os.Remove(filepath.Join(dir, "CURRENT")) },
	} {
		dir := writeEdits(t, complete+"\x02\x02")
		appendTo(t, filepath.Join(dir, "000004.log"), "")
		if diff := cmp.Diff([]uint64(nil), findLost(t, dir, nil)); diff != "" {
			t.Errorf("without a change: lost (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]uint64{2}, findLost(t, dir, change)); diff != "" {
			t.Errorf("%s: lost (-want +got):\n%s", name, diff)
		}
	}
}

// findLost returns the lost logs if dir is changed after the MANIFEST was read.
func findLost(t *testing.T, dir string, change func(dir string)) []uint64 {
	t.Helper()
	v, err := Read(dir)
	noError(t, err)
	if change != nil {
		change(dir)
	}
	names, err := regular.DirOf(dir).Names()
	noError(t, err)
	_, lost, _ := v.FindLogs(regular.DirOf(dir), names)
	return lost
}

func appendTo(t *testing.T, path, what string) {
	t.Helper()
	contents, _ := os.ReadFile(path) // it may be new
	noError(t, os.WriteFile(path, append(contents, what...), 0o666))
}
