package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// writeRandomLog has goleveldb write random batches, and returns the log and a line of sst scan for each
// write.
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

// What salvage writes of a log is what was written, whatever is damaged: all of a sound one, and of
// others at least what a scan shows.
func TestSalvageOfLogs(t *testing.T) {
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
