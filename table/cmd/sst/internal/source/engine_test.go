package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/internalkey"
)

// goleveldb's own log, with its deletions.
func TestWritesOfGoleveldb(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeTo(t, dir, nil, func(db *leveldb.DB) error {
		batch := new(leveldb.Batch)
		batch.Put([]byte("ada"), []byte("lovelace"))
		batch.Delete([]byte("grace"))
		batch.Put(nil, nil)
		return errors.Join(db.Put([]byte("ken"), []byte("thompson"), nil), db.Write(batch, nil))
	})
	log, err := os.ReadFile(onlyFile(t, filepath.Join(dir, "*.log")))
	noError(t, err)
	var got []string
	r := wal.NewReader(bytes.NewReader(log), func(d wal.Damage) { t.Error(d) })
	for record, _, err := r.Next(); err != io.EOF; record, _, err = r.Next() {
		noError(t, err)
		for w, err := range wal.Writes(record) {
			got = append(got, fmt.Sprintf("%d %d %q=%q %v", w.Sequence, w.Kind, w.UserKey, w.Value, err))
		}
	}
	want := []string{`1 1 "ken"="thompson" <nil>`, `2 1 "ada"="lovelace" <nil>`, `3 0 "grace"="" <nil>`, `4 1 ""="" <nil>`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// goleveldb writes the same bytes for the same records.
func TestLogIsThatOfGoleveldb(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 32))
		records := make([]string, rng.IntN(20))
		for i := range records {
			records[i] = strings.Repeat(string([]byte{byte(rng.Uint32())}), rng.IntN(1<<rng.IntN(17)))
		}
		if ours, theirs := tabletest.Log(t, records...), filetest.Log(t, records...); !bytes.Equal(ours, theirs) {
			t.Errorf("seed %d: %d bytes differ from goleveldb's %d", seed, len(ours), len(theirs))
		}
	}
}

// live has goleveldb write a database with compactions behind it, and returns the
// tables that it says it has.
func live(t *testing.T, dir string) map[uint64]bool {
	t.Helper()
	db, err := leveldb.OpenFile(dir, &opt.Options{WriteBuffer: 32 << 10, CompactionTableSize: 16 << 10})
	noError(t, err)
	for i := range 20_000 {
		noError(t, db.Put(fmt.Appendf(nil, "key%06d", i*7919%20_000), make([]byte, 20), nil))
	}
	noError(t, db.CompactRange(util.Range{}))
	listed, err := db.GetProperty("leveldb.sstables")
	noError(t, err)
	noError(t, db.Close())
	tables := map[uint64]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\d+):`).FindAllStringSubmatch(listed, -1) {
		n, err := strconv.ParseUint(m[1], 10, 64)
		noError(t, err)
		tables[n] = true
	}
	return tables
}

// Read finds the tables that goleveldb has. What it says of them is so: first and last key, and the newest of a level
// comes first.
func TestReadFindsGoleveldbsTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := live(t, dir)
	v, err := versions.Read(dir)
	noError(t, err)
	read := map[uint64]bool{}
	for _, l := range v.Tables {
		read[l.Number] = true
	}
	if diff := cmp.Diff(want, read); diff != "" || len(want) < 3 {
		t.Errorf("%d tables (-goleveldb +read):\n%s", len(want), diff)
	}
	if _, logs := v.LiveLogs(nil); v.Comparer != "leveldb.BytewiseComparator" || logs == nil { // which it names
		t.Errorf("comparer %q, logs %v", v.Comparer, logs)
	}
	order := table.InternalComparer(table.BytewiseComparer)
	for i, m := range v.Tables {
		r, err := table.Open(filepath.Join(dir, fmt.Sprintf("%06d.ldb", m.Number)), &table.ReaderOptions{Comparer: order, FilterKey: internalkey.UserKey})
		noError(t, err)
		it := r.NewIter(nil)
		if it.First(); !bytes.Equal(it.Key(), m.Smallest) {
			t.Errorf("table %d: first key %q, want %q", m.Number, m.Smallest, it.Key())
		}
		if it.Last(); !bytes.Equal(it.Key(), m.Largest) {
			t.Errorf("table %d: last key %q, want %q", m.Number, m.Largest, it.Key())
		}
		noError(t, errors.Join(it.Close(), r.Close()))
		if i == 0 {
			continue
		}
		if before := v.Tables[i-1]; m.Level < before.Level || m.Level == before.Level && m.Number >= before.Number {
			t.Errorf("table %d of level %d comes after table %d of level %d", m.Number, m.Level, before.Number, before.Level)
		}
	}
	if v.LastSequence == 0 {
		t.Error("no last sequence number")
	}
}

// Damage is an error; but an edit that was being written when the database died does
// not count, and Torn says so.
func TestReadOfADamagedManifest(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		do     func(contents []byte) []byte
		fine   bool
		unread int64
	}{
		"sound":           {func(c []byte) []byte { return c }, true, 0},
		"last edit cut":   {func(c []byte) []byte { return c[:len(c)-3] }, true, 0},
		"zeros behind it": {func(c []byte) []byte { return append(c, make([]byte, 100)...) }, true, 0},
		"blocks of zeros": {func(c []byte) []byte { return append(c, make([]byte, 1<<20)...) }, true, 0},
		"an edit in the block behind zeros": {func(c []byte) []byte {
			return append(append(c, make([]byte, 32<<10-len(c)%(32<<10))...), c...) // each of which is made again
		}, true, 0},
		"bytes in the block of zeros": {func(c []byte) []byte {
			return append(append(c, make([]byte, 100)...), "edit"...) // which LevelDB does not read
		}, true, 104},
		"nothing":          {func(c []byte) []byte { return nil }, false, 0},
		"a few bytes":      {func(c []byte) []byte { return c[:5] }, false, 0},
		"a byte changed":   {func(c []byte) []byte { c[20] ^= 1; return c }, false, 0},
		"all but 10 bytes": {func(c []byte) []byte { return c[:10] }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			live(t, dir)
			path := onlyFile(t, filepath.Join(dir, "MANIFEST-*"))
			contents, err := os.ReadFile(path)
			noError(t, err)
			noError(t, os.WriteFile(path, tt.do(contents), 0o666))
			v, err := versions.Read(dir)
			if (err == nil) != tt.fine {
				t.Errorf("Read = %v, %v", v, err)
			}
			if err == nil && ((v.Torn > 0) != (name == "last edit cut") || v.Unread != tt.unread) {
				t.Errorf("%d bytes are torn and %d not read, want %d not read", v.Torn, v.Unread, tt.unread)
			}
		})
	}
}
