package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/database"
)

// writeTables writes a database of several tables, in which all keys have the same value.
func writeTables(t *testing.T, dir, value string) {
	t.Helper()
	w, err := database.Create(dir, &database.WriterOptions{TableSize: 2 << 10})
	noError(t, err)
	for i := range 1000 {
		noError(t, w.Append(fmt.Appendf(nil, "key%04d", i), []byte(value)))
	}
	noError(t, w.Close())
}

// If another database takes the name of a directory, a scan that has not begun yields its entries, and so does Get. A
// scan that has begun fails, since the rest of its entries would be the other database's.
func TestReplacedDirectory(t *testing.T) {
	t.Parallel()
	for after, want := range map[int]string{0: "", 10: "another directory replaced it"} {
		parent := t.TempDir()
		dir, other := filepath.Join(parent, "db"), filepath.Join(parent, "other")
		writeTables(t, dir, "old")
		writeTables(t, other, "new")
		s, err := OpenSource(dir, Options{})
		noError(t, err)
		replace := func() { noError(t, errors.Join(os.Rename(dir, dir+"1"), os.Rename(other, dir))) }
		if after == 0 {
			replace()
		}
		values, n := map[string]int{}, 0
		for e, scanErr := range s.Scan(ScanOptions{}) {
			if err = scanErr; err == nil {
				values[string(e.Value)]++
			}
			if n++; n == after {
				replace()
			}
		}
		if !containsError(err, want) || len(values) != 1 {
			t.Errorf("replaced after %d entries: scan yields %v, %v; want one value and %q", after, values, err, want)
		}
		if e, _, err := s.Get([]byte("key0999")); err != nil || string(e.Value) != "new" {
			t.Errorf("replaced after %d entries: Get = %q, %v", after, e.Value, err)
		}
		noError(t, s.Close())
	}
}

// If another database takes the name of a directory before a log is read, all logs of that database are read.
func TestReplacedDirectoryOfLogs(t *testing.T) {
	t.Parallel()
	write := func(sequence byte, key string) []byte {
		return filetest.Log(t, string(sequence)+"\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01"+string(byte(len(key)))+key+"\x00")
	}
	state := map[string][]byte{
		"CURRENT":         []byte("MANIFEST-000001\n"),
		"MANIFEST-000001": tabletest.Log(t, versions.Header{Comparer: "leveldb.BytewiseComparator", Log: 2, NextFile: 4}.Edit()),
	}
	dir, other := filetest.WriteDir(t, state), filetest.WriteDir(t, state)
	noError(t, os.WriteFile(filepath.Join(dir, "000002.log"), write(1, "old"), 0o666))
	noError(t, os.WriteFile(filepath.Join(other, "000002.log"), write(1, "new"), 0o666))
	noError(t, os.WriteFile(filepath.Join(other, "000003.log"), write(2, "newer"), 0o666))
	s, err := OpenSource(dir, Options{})
	noError(t, err)
	noError(t, errors.Join(os.Rename(dir, dir+" aside"), os.Rename(other, dir)))
	var keys []string
	for e, err := range s.Scan(ScanOptions{}) {
		noError(t, err)
		keys = append(keys, string(e.Key))
	}
	if want := []string{"new", "newer"}; !slices.Equal(keys, want) {
		t.Errorf("scan yields the keys %q, want %q", keys, want)
	}
	noError(t, s.Close())
}

// containsError reports whether the message of err contains want. If want is "", err must be nil.
func containsError(err error, want string) bool {
	if err == nil || want == "" {
		return err == nil && want == ""
	}
	return strings.Contains(err.Error(), want)
}
