package goleveldb

import (
	"math"
	"strconv"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb/cache"

	"github.com/sievetable/sievetable/table"
)

// A blockCache is a Reader's counterpart of a cache.NamespaceGetter: a table.Cache that all Readers with the same
// cache.Cache share, with its account, and the name of the file in it. The account and the name are values in the
// cache.Cache, so that they live as long as it does, and its methods evict them. The zero value is no cache.
type blockCache struct {
	cache   *table.Cache
	account *account
	key     string
	handles [2]*cache.Handle // of the two values
}

// The keys of the values in a cache.Cache. Other keys are goleveldb's block offsets.
const (
	cacheNamespace = math.MaxUint64 // of the table.Cache, and of the pages of its account
	valueKey       = math.MaxUint64
)

// fileSize is the size of a file's name in a cache.Cache: about the memory that it takes.
const fileSize = 256

// files numbers the names of files, so that each is unique.
var files atomic.Uint64

// openBlockCache returns the blockCache for g. It returns none if g is nil, or if its cache is closed or has no
// capacity.
func openBlockCache(g *cache.NamespaceGetter) (b blockCache) {
	if g == nil || g.Cache == nil || g.Cache.Capacity() <= 0 {
		return b
	}
	b.handles[0] = g.Cache.Get(cacheNamespace, valueKey, func() (int, cache.Value) {
		capacity := g.Cache.Capacity()
		page := max(capacity/accountPages, minAccountPage)
		return 0, &account{of: table.NewCache(int64(capacity)), in: g.Cache, page: page}
	})
	b.handles[1] = g.Cache.Get(g.NS, valueKey-1, func() (int, cache.Value) {
		return fileSize, strconv.FormatUint(files.Add(1), 10)
	})
	var has, named bool
	if b.handles[0] != nil && b.handles[1] != nil { // otherwise the cache is closed
		b.account, has = b.handles[0].Value().(*account)
		b.key, named = b.handles[1].Value().(string)
	}
	if !has || !named {
		b.release()
		return blockCache{}
	}
	b.cache = b.account.of
	return b
}

// release lets the cache.Cache evict the values.
func (b *blockCache) release() {
	for _, h := range b.handles {
		if h != nil {
			h.Release()
		}
	}
}
