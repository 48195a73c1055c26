package set_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/set"
)

// FuzzReadManifest reads any bytes. An accepted manifest is valid, and reads the same after it is written.
func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(twoTablesFile))
	f.Add([]byte(layeredFile))
	f.Add([]byte(`{"format":"sievetable-set","version":2,"tables":0}`))
	f.Add([]byte(`{"format":"sievetable-set","version":2,"tables":1000000000000}`))
	f.Add([]byte(strings.ReplaceAll(twoTablesFile, ",", " ,\t")))
	f.Add([]byte(strings.ReplaceAll(twoTablesFile, `""`, "null")))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := set.ReadManifest(bytes.NewReader(file))
		if err != nil {
			if m != nil || !strings.HasPrefix(err.Error(), "set: line ") {
				t.Fatalf("manifest %v, error %v", m, err)
			}
			return
		}
		if err := m.Check(); err != nil {
			t.Fatalf("ReadManifest accepts it, Check does not: %v", err)
		}
		written := writeManifest(t, m)
		again, err := set.ReadManifest(strings.NewReader(written))
		if diff := cmp.Diff(m, again); err != nil || diff != "" {
			t.Fatalf("written and read again: error %v (-first +second):\n%s", err, diff)
		}
	})
}

// FuzzTableJSON decodes any bytes as a table's line.
func FuzzTableJSON(f *testing.F) {
	for _, line := range strings.Split(twoTablesFile, "\n") {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var table, again set.Table
		if json.Unmarshal(line, &table) != nil {
			return
		}
		written, err := json.Marshal(table)
		noError(t, err)
		noError(t, json.Unmarshal(written, &again))
		if diff := cmp.Diff(table, again); diff != "" {
			t.Fatalf("written and read again (-first +second):\n%s", diff)
		}
	})
}
