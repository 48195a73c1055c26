package goleveldb

import (
	"sync"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb/cache"

	"github.com/sievetable/sievetable/table"
)

// An account has a cache.Cache count the bytes of a table.Cache, so that its Size is right, and so
// are the statistics of an engine that have it. The cache.Cache has a node for each page of so many
// bytes. Only the account has handles of these nodes, and not the cache.Cacher: what that may hold
// is for the names of files.
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
	accountPages   = 256     // of a cache.Cache that is full
	minAccountPage = 1 << 10 // bytes
	accountEvery   = 8       // reads of files, so that most cost no lock
)

// newAccount returns the account of a table.Cache in a cache.Cache.
func newAccount(of *table.Cache, in *cache.Cache, capacity int) *account {
	return &account{of: of, in: in, page: max(capacity/accountPages, minAccountPage)}
}

// afterRead counts again now and then. It is called after each read of a file, as only what is
// read can change the size of the table.Cache by much: one that is full stays so, also when it
// decodes blocks that it has. a may be nil.
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

// add adds a page. It reports whether the cache.Cache takes it: one that is closed does not.
func (a *account) add(number uint64) bool {
	h := a.in.Get(cacheNamespace, number, func() (int, cache.Value) { return a.page, struct{}{} })
	if h == nil {
		return false
	}
	// The cache.Cacher must not have the page. Delete, as Evict would leave it in what goleveldb's counts,
	// and pages that come and go would drive all else out.
	a.in.Delete(cacheNamespace, number, nil)
	a.pages = append(a.pages, h)
	return true
}

// Release removes the pages. The cache.Cache calls it when it gives the table.Cache up, under a lock
// that it takes for the pages too.
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
