package database_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// fuzzedLayout returns the layout from which fuzzing starts: tables on three levels.
func fuzzedLayout(t testing.TB) *layout {
	l := &layout{options: table.WriterOptions{BlockSize: 40, FilterPolicy: filter.NewBloom(10)}}
	l.table(t, 2, set("a", 1, "1"), set("b", 2, "2"))
	l.table(t, 2, set("c", 3, "3"), del("d", 4))
	l.table(t, 1, set("b", 5, "5"), set("c", 6, "6"))
	l.table(t, 0, set("a", 8, "8"), set("b", 7, "7"))
	l.table(t, 0, del("a", 9), set("d", 10, "10"))
	return l
}

// The meanings of FuzzDatabase's bytes.
const (
	asFiles   = iota // the MANIFEST and a log
	asRecords        // a version edit and a batch, with valid checksums
	asChanges        // to the tables in the MANIFEST, and writes of a log
)

// FuzzDatabase opens a database with arbitrary bytes in the MANIFEST, the log and a table of level 0. Nothing
// panics, and the DB's results agree with its tables and its log.
func FuzzDatabase(f *testing.F) {
	l := fuzzedLayout(f)
	log := batch(set("c", 11, "11"), set("e", 12, "12"), del("b", 13))
	l.write(f, log)
	files := l.end(f)
	for _, tableOf0 := range []string{"000005.ldb", "000006.ldb"} {
		f.Add(files["MANIFEST-000001"].Data, files["000007.log"].Data, files[tableOf0].Data, uint8(asFiles))
		f.Add(l.header(20), log, files[tableOf0].Data, uint8(asRecords))
		f.Add([]byte("\x02\x02\x01\x00\x00"), []byte("\x01\x02\x13\x04\x25\x42"), files[tableOf0].Data, uint8(asChanges))
	}
	f.Add([]byte("\x00\x01\x02\x03\x04"), []byte("\x01\x82\x13\x04\xa5\x42"), files["000006.ldb"].Data, uint8(asChanges))
	f.Add([]byte("\x00\x01\x00\x08\x24"), []byte("\x01\x62"), files["000006.ldb"].Data, uint8(asChanges))
	f.Add(l.header(20), batch(set("a", 10, "again"), set("", 11, "empty")), files["000003.ldb"].Data, uint8(asRecords))
	f.Add(files["MANIFEST-000001"].Data, files["000007.log"].Data[:30], files["000002.ldb"].Data, uint8(asFiles))
	f.Add(files["MANIFEST-000001"].Data, files["000007.log"].Data, []byte("a table that was cut"), uint8(asFiles))
	f.Fuzz(func(t *testing.T, manifest, log, tableOf0 []byte, as uint8) {
		l := fuzzedLayout(t)
		l.write(t)
		switch as {
		case asRecords:
			manifest, log = tabletest.Log(t, manifest), tabletest.Log(t, log)
		case asChanges:
			l.change(manifest)
			manifest, log = tabletest.Log(t, l.header(20)), tabletest.Log(t, batchesOf(log)...)
		}
		files := l.end(t)
		files["MANIFEST-000001"].Data, files["000007.log"].Data, files["000006.ldb"].Data = manifest, log, tableOf0
		openAndCompare(t, files)
	})
}

// Tables on wrong levels and with wrong ranges, and logs with repeated sequence numbers.
func TestWrongLayouts(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	compared := 0
	rng := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		ops := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, rng.Uint64()), rng.Uint64())
		l := fuzzedLayout(t)
		l.change(ops[:5])
		l.write(t, batchesOf(ops[5:5+rng.IntN(11)])...)
		if openAndCompare(t, l.end(t)) {
			compared++
		}
	}
	if compared < 50 {
		t.Errorf("%d databases were read whole, want ≥ 50", compared)
	}
}

// openAndCompare compares a DB's results with the contents of the files, and reports whether all were read.
func openAndCompare(t *testing.T, files fstest.MapFS) bool {
	t.Helper()
	lazy, err := database.OpenFS(files, ".", &database.Options{LazyTables: true})
	if err == nil {
		defer lazy.Close()
		checkAgrees(t, lazy, files)
	}
	db, err := database.OpenFS(files, ".", nil)
	if err != nil {
		return false
	}
	defer db.Close()
	return checkAgrees(t, db, files)
}

// change changes the tables in the MANIFEST: a byte for each selects its level and another range.
func (l *layout) change(ops []byte) {
	fields := l.fields
	l.fields = nil
	for f := range versions.Fields(fields) {
		if len(ops) > 0 {
			f.Level = int(ops[0] % 4)
			switch ops[0] / 4 % 8 {
			case 0:
				f.Smallest = internal("", 1)
			case 1:
				f.Largest = internal("z", 1)
			case 2:
				f.Smallest = internal("b", 5)
			case 3:
				f.Largest = internal("b", 5)
			}
			ops = ops[1:]
		}
		l.list(f.Table)
	}
}

// batchesOf returns batches of writes. A byte for each selects its key, whether it is a deletion, and whether it
// begins a batch, which can repeat a sequence number.
func batchesOf(ops []byte) (batches [][]byte) {
	sequence, writes := uint64(11), []entry(nil)
	for i, op := range ops {
		if op >= 0x80 && writes != nil {
			batches, writes = append(batches, batch(writes...)), nil
			sequence -= uint64(op >> 5 & 1)
		}
		w := set(string(rune('a'+op%5)), sequence, fmt.Sprint("write ", i))
		if op&0x10 != 0 {
			w = del(string(w.UserKey), sequence)
		}
		writes = append(writes, w)
		sequence++
	}
	if writes != nil {
		batches = append(batches, batch(writes...))
	}
	return batches
}
