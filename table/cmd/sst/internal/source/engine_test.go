package source

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

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

// Read finds the tables that goleveldb lists, in the order of levels, the newest of a level first, with their first and
// last keys.
func TestReadFindsGoleveldbsTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := tablesOfGoleveldb(t, dir)
	v, err := versions.Read(dir)
	noError(t, err)
	read := map[string]bool{}
	order := table.InternalComparer(table.BytewiseComparer)
	for i, m := range v.Tables {
		read[fmt.Sprint(m.Number)] = true
		r, err := table.Open(filepath.Join(dir, fmt.Sprintf("%06d.ldb", m.Number)), &table.ReaderOptions{Comparer: order})
		noError(t, err)
		it := r.NewIter(nil)
		if !it.First() || !bytes.Equal(it.Key(), m.Smallest) || !it.Last() || !bytes.Equal(it.Key(), m.Largest) {
			t.Errorf("table %d: at key %q, not %q to %q: %v", m.Number, it.Key(), m.Smallest, m.Largest, it.Error())
		}
		noError(t, errors.Join(it.Close(), r.Close()))
		if i == 0 {
			continue
		}
		if before := v.Tables[i-1]; m.Level < before.Level || m.Level == before.Level && m.Number >= before.Number {
			t.Errorf("table %d of level %d comes after table %d of level %d", m.Number, m.Level, before.Number, before.Level)
		}
	}
	if diff := cmp.Diff(want, read); diff != "" || len(want) < 3 {
		t.Errorf("%d tables (-goleveldb +read):\n%s", len(want), diff)
	}
	if _, logs := v.LiveLogs(nil); v.Comparer != "leveldb.BytewiseComparator" || logs == nil || v.LastSequence != 20_000 {
		t.Errorf("comparer %q, logs %v, last sequence number %d", v.Comparer, logs, v.LastSequence)
	}
}

// tablesOfGoleveldb writes a database of 20,000 keys with goleveldb, compacts it, and returns the numbers of the tables
// that goleveldb lists.
func tablesOfGoleveldb(t *testing.T, dir string) map[string]bool {
	t.Helper()
	tables := map[string]bool{}
	o := &opt.Options{WriteBuffer: 32 << 10, CompactionTableSize: 16 << 10}
	writeTo(t, dir, o, func(db *leveldb.DB) (err error) {
		for i := range 20_000 {
			err = errors.Join(err, db.Put(fmt.Appendf(nil, "key%06d", i*7919%20_000), make([]byte, 20), nil))
		}
		err = errors.Join(err, db.CompactRange(util.Range{}))
		listed, err2 := db.GetProperty("leveldb.sstables")
		for _, m := range regexp.MustCompile(`(?m)^(\d+):`).FindAllStringSubmatch(listed, -1) {
			tables[m[1]] = true
		}
		return errors.Join(err, err2)
	})
	return tables
}
