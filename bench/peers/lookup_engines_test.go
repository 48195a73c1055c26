package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/storage"
	ltable "github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/pebble"
	"github.com/sievetable/sievetable/table"
)

// closing closes what was opened when the test ends.
func closing[T io.Closer](t testing.TB, opened T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	return opened
}

func getOurs(t testing.TB, contents []byte, o *table.ReaderOptions) func(key []byte) (bool, error) {
	t.Helper()
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), o)
	closing(t, r, err)
	return func(key []byte) (bool, error) {
		_, err := r.Get(key)
		if err == table.ErrNotFound {
			return false, nil
		}
		return err == nil, err
	}
}

// getGoleveldb opens the table as goleveldb's database does: with a pool of buffers, blocks checked when
// they are read, and index and filter in the cache too.
func (l *lookupTables) getGoleveldb(t testing.TB, cached bool) func(key []byte) (bool, error) {
	t.Helper()
	o := goleveldb.Options(l.shape)
	var blocks *cache.NamespaceGetter
	if cached {
		c := cache.NewCache(cache.NewLRU(lookupCache))
		t.Cleanup(func() { c.Close(true) })
		blocks = &cache.NamespaceGetter{Cache: c, NS: 1}
	}
	src, pool := bytes.NewReader(l.goleveldb), util.NewBufferPool(l.shape.BlockSize+5)
	r, err := ltable.NewReader(src, int64(len(l.goleveldb)), storage.FileDesc{}, blocks, pool, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Release)
	return (&goleveldb.Reader{Reader: r}).FindFiltered
}

// getPebble opens the database. Pebble reads index and filter by way of its block cache. Without one for
// the blocks, it has room for these and little more: it is of four parts, into each of which a block must
// fit.
func (l *lookupTables) getPebble(t testing.TB, cached bool, keys int) func(key []byte) (bool, error) {
	t.Helper()
	filters := int64(keys * l.shape.BitsPerKey / 8)
	size := pebble.MemTableBytes + 4*(filters+filters/4+4*int64(l.shape.BlockSize))
	if cached {
		size = lookupCache
	}
	db, err := pebble.Open(pebbleOptions(l.pebble, l.shape, size), "db")
	return closing(t, db, err).Has
}

func (l *lookupTables) getLevelDB(t testing.TB, keys [][]byte, present, cached bool) func(from, to int) error {
	t.Helper()
	tool, err := cxx()
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	if cached {
		size = lookupCache
	}
	lookups, err := tool.OpenLookups(l.levelDB, l.shape.BitsPerKey, size, keys, present)
	return closing(t, lookups, err).Get
}
