package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// FuzzWrittenDatabases cuts the input into keys and writes them to a database of one or many tables. Both engines
// must read it.
func FuzzWrittenDatabases(f *testing.F) {
	f.Add([]byte("aabbbcccddde"), uint8(2), uint16(1))
	f.Add([]byte("\x00\xff\x00\x00\xff\xff\x01\xfe"), uint8(1), uint16(300))
	var keys []byte
	for i := range 90 {
		keys = fmt.Appendf(keys, "%0200d", i)
	}
	f.Add(keys, uint8(199), uint16(0)) // a MANIFEST of several blocks
	levelDBDatabase(f)                 // compiled now, since an input must not take more than 10 s
	f.Fuzz(func(t *testing.T, data []byte, width uint8, tableSize uint16) {
		if bytes.Contains(data, []byte("~")) {
			t.Skip("the engines check that no key ends in ~~")
		}
		var entries []entry
		for _, p := range workload.Cut(data, 1+int(width)) {
			entries = append(entries, entry{internalkey.Key{UserKey: p.Key, Kind: internalkey.Set}, p.Value})
		}
		j := judged{dir: filepath.Join(t.TempDir(), "db"), order: table.BytewiseComparer}
		j.write(t, &database.WriterOptions{TableSize: int64(tableSize) + 1}, entries)
		j.before = j.dump()
		j.after = j.before
		j.byGoleveldb(t)
		j.byLevelDB(t)
	})
}
