package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	goleveldb "github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// goleveldb's comparers are table.Comparers.
var _ table.Comparer = comparer.DefaultComparer

const dbKeys = 50_000

func dbKey(i int) []byte { return fmt.Appendf(nil, "key%08d", 2*i) }

// fillDB has goleveldb write and compact a database with our filter policy.
func fillDB(t *testing.T, dir string) *goleveldb.DB {
	t.Helper()
	db, err := goleveldb.OpenFile(dir, &opt.Options{
		Filter:      filter.Adapt[lfilter.FilterGenerator, lfilter.Buffer](filter.NewBloom(10)),
		WriteBuffer: 512 << 10,
		Strict:      opt.StrictAll,
	})
	noError(t, err)
	for i := range dbKeys {
		noError(t, db.Put(dbKey(i), fmt.Appendf(nil, "value %d", i), nil))
	}
	noError(t, db.CompactRange(util.Range{}))
	return db
}

// goleveldb can use our policy, by filter.Adapt.
func TestGoleveldbDatabaseOnOurPolicy(t *testing.T) {
	t.Parallel()
	db := fillDB(t, t.TempDir())
	defer db.Close()
	for i := range dbKeys {
		if v, err := db.Get(dbKey(i), nil); err != nil || !bytes.Equal(v, fmt.Appendf(nil, "value %d", i)) {
			t.Fatalf("Get(%q) = %q, %v", dbKey(i), v, err)
		}
		if ok, err := db.Has(append(dbKey(i), '~'), nil); err != nil || ok {
			t.Fatalf("Has(%q~) = %v, %v", dbKey(i), ok, err)
		}
	}
}

// Tables of databases contain internal keys, and their filters contain user keys. A Reader without FilterKey misses
// nearly all keys, and its Verify suggests internalkey.UserKey.
func TestDatabaseTablesWantUserKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	noError(t, fillDB(t, dir).Close())
	tables := filesOf(t, dir, "*.ldb", 1)
	seen := map[string]bool{} // goleveldb may leave a compacted table behind
	entries, ruledOut := 0, 0
	for _, name := range tables {
		keys, d := checkDatabaseTable(t, name)
		for _, k := range keys {
			seen[k] = true
		}
		entries += len(keys)
		ruledOut += d
	}
	if len(seen) != dbKeys {
		t.Errorf("%d keys in %d tables, want %d", len(seen), len(tables), dbKeys)
	}
	if ruledOut < entries*95/100 {
		t.Errorf("without FilterKey %d of %d keys are ruled out, want nearly all", ruledOut, entries)
	}
}

// checkDatabaseTable gets each key of a table with and without FilterKey. It returns the keys, and the number of
// keys that the filters rule out if FilterKey is not set.
func checkDatabaseTable(t *testing.T, name string) (keys []string, ruledOut int) {
	t.Helper()
	contents, err := os.ReadFile(name)
	noError(t, err)
	var m table.Metrics
	with := tabletest.Open(t, contents, &table.ReaderOptions{FilterKey: internalkey.UserKey, Metrics: &m})
	without := tabletest.Open(t, contents, nil)
	for e, err := range with.All(nil) {
		noError(t, err)
		k, v := e.Key, e.Value
		keys = append(keys, string(k))
		if got, err := with.Get(k); err != nil || !bytes.Equal(got, v) {
			t.Fatalf("%s: Get(%q) with FilterKey = %q, %v", name, k, got, err)
		}
		if _, err := without.Get(k); errors.Is(err, table.ErrNotFound) {
			ruledOut++
		}
	}
	if err := with.Verify(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if m.FilterChecks.Load() != uint64(len(keys)) {
		t.Errorf("%s: filter checked %d times for %d keys", name, m.FilterChecks.Load(), len(keys))
	}
	if err := without.Verify(); err == nil || !strings.Contains(err.Error(), "internalkey.UserKey") {
		t.Errorf("%s: Verify without FilterKey = %v, want a hint at internalkey.UserKey", name, err)
	}
	return keys, ruledOut
}
