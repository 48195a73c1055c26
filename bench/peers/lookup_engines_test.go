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
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
)

// closing returns opened, and closes it when the test ends.
func closing[T io.Closer](t testing.TB, opened T, err error) T {
	t.Helper()
	noError(t, err)
	t.Cleanup(func() { opened.Close() })
	return opened
}

func getOurs(t testing.TB, contents []byte, o *table.ReaderOptions) func(key []byte) (bool, error) {
	t.Helper()
	r := closing(t, tabletest.Open(t, contents, o), nil)
	return func(key []byte) (bool, error) {
		_, err := r.Get(key)
		if err == table.ErrNotFound {
			return false, nil
		}
		return err == nil, err
	}
}

// getGoleveldb returns a lookup by goleveldb's Reader.
func (l *lookupTables) getGoleveldb(t testing.TB, cached bool) func(key []byte) (bool, error) {
	t.Helper()
	return (&goleveldb.Reader{Reader: openGoleveldbs(t, l.shape, cached, l.goleveldb)[0]}).FindFiltered
}

// openGoleveldbs opens tables as goleveldb's database does: with a shared buffer pool and, if cached, with a shared
// cache for blocks, index and filter. Blocks are checked when they are read.
func openGoleveldbs(t testing.TB, shape manifest.Table, cached bool, tables ...[]byte) (readers []*ltable.Reader) {
	t.Helper()
	o, pool := goleveldb.Options(shape), util.NewBufferPool(shape.BlockSize+5)
	c := cache.NewCache(cache.NewLRU(lookupCache))
	t.Cleanup(func() { c.Close(true) })
	for i, contents := range tables {
		var blocks *cache.NamespaceGetter
		if cached {
			blocks = &cache.NamespaceGetter{Cache: c, NS: uint64(i)}
		}
		r, err := ltable.NewReader(bytes.NewReader(contents), int64(len(contents)), storage.FileDesc{}, blocks, pool, o)
		noError(t, err)
		t.Cleanup(r.Release)
		readers = append(readers, r)
	}
	return readers
}

// getPebble opens the database. Pebble reads the index and the filter through its block cache. If data blocks are
// not to be cached, the cache has room for little more than index and filter: each of its four shards must hold a
// block.
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
	noError(t, err)
	size := 0
	if cached {
		size = lookupCache
	}
	lookups, err := tool.OpenLookups(l.levelDB, l.shape.BitsPerKey, size, keys, present)
	return closing(t, lookups, err).Get
}
