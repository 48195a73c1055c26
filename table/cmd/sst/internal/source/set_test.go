package source

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// writeSet writes a set of that many tables with two keys each: 0000, 0002, 0004 and so on.
func writeSet(t *testing.T, tables int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeSetTo(t, dir, tables, "")
	return dir
}

// writeSetTo is like writeSet, but the names of the tables begin with prefix.
func writeSetTo(t *testing.T, dir string, tables int, prefix string) {
	t.Helper()
	var m set.Manifest
	for i := range tables {
		var b bytes.Buffer
		w, err := set.NewTableWriter(&b, nil)
		noError(t, err)
		for n := 4 * i; n < 4*i+4; n += 2 {
			noError(t, w.Append(fmt.Appendf(nil, "%04d", n), fmt.Append(nil, n)))
		}
		line, err := w.Close()
		noError(t, err)
		line.Name = fmt.Sprintf("%s%d.table", prefix, i)
		noError(t, os.WriteFile(filepath.Join(dir, line.Name), b.Bytes(), 0o666))
		m.Tables = append(m.Tables, line)
	}
	var b bytes.Buffer
	err := set.WriteManifest(&b, &m)
	noError(t, errors.Join(err, os.WriteFile(filepath.Join(dir, "tables.jsonl"), b.Bytes(), 0o666)))
}

// A scan of a set with many tables finds all keys, and keeps few tables open.
func TestManyTablesOfSet(t *testing.T) {
	t.Parallel()
	const tables = 3 * maxOpenTables
	s := openSource(t, filepath.Join(writeSet(t, tables), "tables.jsonl"), Options{})
	for _, reverse := range []bool{false, true} {
		n := 0
		for e, err := range s.Scan(ScanOptions{Reverse: reverse}) {
			want := 2 * n
			if reverse {
				want = 4*tables - 2 - 2*n
			}
			if err != nil || string(e.Value) != fmt.Sprint(want) {
				t.Fatalf("entry %d is %q, %v, want %d", n, e.Value, err, want)
			}
			n++
			checkOpenTables(t, s)
		}
		if n != 2*tables {
			t.Errorf("%d entries, want %d", n, 2*tables)
		}
	}
}

// If a set is replaced during a scan, the scan ends with an error. A scan that has yielded nothing yet continues
// with the new set.
func TestSetIsReplaced(t *testing.T) {
	t.Parallel()
	const tables = 3 * maxOpenTables
	for after, want := range map[int]string{0: "", 10: "another set replaced it while it was read: run the command again"} {
		dir := writeSet(t, tables)
		s := openSource(t, filepath.Join(dir, "tables.jsonl"), Options{})
		replace := func() {
			writeSetTo(t, dir, tables, "other")
			for i := range tables {
				noError(t, os.Remove(filepath.Join(dir, fmt.Sprintf("%d.table", i))))
			}
		}
		if after == 0 {
			replace()
		}
		n, got := 0, ""
		for _, err := range s.Scan(ScanOptions{}) {
			if err != nil {
				got = err.Error()
				break
			}
			if n++; n == after {
				replace()
			}
		}
		if got != want && !strings.HasSuffix(got, ": "+want) || (want == "") != (n == 2*tables) {
			t.Errorf("replaced after %d entries: %d entries, then %q, want %q", after, n, got, want)
		}
	}
}

func checkOpenTables(t *testing.T, s *Source) {
	t.Helper()
	n := 0
	for _, table := range s.Tables {
		if table.file != nil {
			n++
		}
	}
	if n > maxOpenTables {
		t.Fatalf("%d tables are open, want at most %d", n, maxOpenTables)
	}
}

// If a table vanishes after the set was opened, only its keys are affected.
func TestTableOfSetVanishes(t *testing.T) {
	t.Parallel()
	dir := writeSet(t, 3)
	s := openSource(t, filepath.Join(dir, "tables.jsonl"), Options{})
	noError(t, os.Remove(filepath.Join(dir, "1.table")))
	for key, want := range map[string]error{"0000": nil, "0004": table.ErrCorrupt, "0005": table.ErrCorrupt, "0010": nil} {
		if _, found, err := s.Get([]byte(key)); !errors.Is(err, want) || found != (want == nil) {
			t.Errorf("%s: found %v, %v, want %v", key, found, err, want)
		}
	}
	lost, n := s.NewLossCursor(), 0
	for e, err := range s.Scan(ScanOptions{}) {
		if n++; err != nil || lost.IsLost(e.Key) {
			t.Errorf("Scan yields %q, %v, which is lost: %v", e.Key, err, lost.IsLost(e.Key))
		}
	}
	losses := s.Losses(KeyRange{})
	if n != 4 || s.Damage != nil || len(losses) != 1 || losses[0].Keys.String() != `keys ≥ "0004" and ≤ "0006"` {
		t.Errorf("%d entries, lost are %v, and the damage of the set is %v, want 4, those from 0004 to 0006, and none", n, losses, s.Damage)
	}
	lost = s.NewLossCursor()
	for _, key := range []string{"0000", "0003", "0004", "0005", "0006", "0007"} {
		if got, want := lost.IsLost([]byte(key)), key >= "0004" && key <= "0006"; got != want {
			t.Errorf("%s is lost: %v, want %v", key, got, want)
		}
	}
}

// Lookups in a set open each table once if there is memory for all, and otherwise keep few open.
func TestManyLookupsInSet(t *testing.T) {
	t.Parallel()
	const tables = 3 * maxOpenTables
	var opened []*offsets
	s := openSource(t, filepath.Join(writeSet(t, tables), "tables.jsonl"), recorded(&opened, true))
	var keys []string
	for n := range 4*tables + 3 {
		keys = append(keys, fmt.Sprintf("%04d", n))
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	has := func(key string) (string, bool) {
		value := strings.TrimLeft(key[:3], "0") + key[3:]
		return value, key[3]%2 == 0 && key < fmt.Sprintf("%04d", 4*tables)
	}
	checkLookups(t, s, keys, has)
	if len(opened) != tables || len(s.openTables) != tables {
		t.Errorf("%d tables of %d were opened, and %d are open; want each opened once", len(opened), tables, len(s.openTables))
	}
	for _, full := range []bool{true, false} { // memory
		few := openSource(t, s.Path, Options{Lookups: full})
		if full {
			few.openMemory = maxOpenMemory
		}
		for _, key := range keys {
			checkLookups(t, few, []string{key}, has)
			checkOpenTables(t, few)
		}
	}
}
