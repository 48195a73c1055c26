package goleveldb

import (
	"sync"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb/cache"

	"github.com/sievetable/sievetable/table"
)

// An account makes a cache.Cache count the bytes of a table.Cache, so that its Size and the engine's statistics are
// right. The cache.Cache gets a node for each page of bytes. Only the account has handles to these nodes. The
// cache.Cacher does not, since its capacity is for the names of files.
type account struct {
	of    *table.Cache
	in    *cache.Cache
	page  int // bytes
	reads atomic.Uint32

	mu     sync.Mutex
	pages  []*cache.Handle
	closed bool
}

const (
	accountPages   = 256     // number of pages if the table.Cache is full
	minAccountPage = 1 << 10 // bytes
	accountEvery   = 8       // reads of files per count, so that most reads take no lock
)

// afterRead updates the pages from time to time. It is called after each read of a file, since only reads change the
// size of the table.Cache by much: a full one stays full, even when it decodes its blocks. a may be nil.
func (a *account) afterRead() {
	if a == nil || a.reads.Add(1)%accountEvery != 0 || !a.mu.TryLock() {
		return
	}
	defer a.mu.Unlock()
	size := int(a.of.Size())
	for !a.closed && (len(a.pages)+1)*a.page <= size {
		if !a.add(uint64(len(a.pages))) {
			return
		}
	}
	for n := len(a.pages) - 1; n >= 0 && n*a.page >= size; n-- {
		a.pages[n].Release()
		a.pages = a.pages[:n]
	}
}

// add adds a page. It returns false if the cache.Cache is closed.
func (a *account) add(number uint64) bool {
	h := a.in.Get(cacheNamespace, number, func() (int, cache.Value) { return a.page, struct{}{} })
	if h == nil {
		return false
	}
	// The cache.Cacher must not have the page. After Evict, goleveldb's Cacher would still count it, and pages that
	// come and go would evict everything else. So use Delete.
	a.in.Delete(cacheNamespace, number, nil)
	a.pages = append(a.pages, h)
	return true
}

// Release removes the pages in a goroutine: the cache.Cache calls it when it gives up the table.Cache, under a lock
// that it also takes for the pages.
func (a *account) Release() { go a.close() }

func (a *account) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, h := range a.pages {
		h.Release()
	}
	a.pages = nil
}
