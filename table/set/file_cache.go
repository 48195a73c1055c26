package set

import (
	"container/ring"
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/regular"
)

// A fileCache keeps files of a directory open, at most a number of them, and evicts by CLOCK. It is
// the [Source] of their tables. It also remembers what the files were that it has closed.
type fileCache struct {
	open  func(name string) (regular.File, fs.FileInfo, error)
	slots chan struct{} // has a place for each file that may be open

	mu      sync.RWMutex
	known   map[string]*knownFile // by name, until they are forgotten
	kept    clock[*cachedFile]
	waiting int // how many wait for a slot; nothing is kept meanwhile, so that each gets one
	forgets int // how often a file was forgotten
}

// A knownFile is what is known of a file that was opened.
type knownFile struct {
	info fs.FileInfo // when it was opened first
	kept *cachedFile // nil if it is closed, or open only for the reads that are under way
}

// A cachedFile is an open file with a reference count. Reads hold references, and so does the
// cache while it keeps the file.
type cachedFile struct {
	regular.File
	info    fs.FileInfo
	slots   chan struct{}
	refs    refCount
	touched atomic.Bool // used since the clock came by

	owner *knownFile // that keeps it
	place *ring.Ring // in the clock
}

// newFileCache returns a cache of at most that many files, which open opens.
func newFileCache(most int, open func(name string) (regular.File, fs.FileInfo, error)) *fileCache {
	return &fileCache{open: open, slots: make(chan struct{}, most), known: map[string]*knownFile{}}
}

// ReadAt reads the file name, as [Source] says.
func (c *fileCache) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	f, err := c.acquire(ctx, name)
	if err != nil {
		return 0, err
	}
	defer f.release()
	return f.ReadAt(p, off)
}

// acquire returns the file name for a read, which releases it.
func (c *fileCache) acquire(ctx context.Context, name string) (*cachedFile, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f := c.acquireKept(name); f != nil {
		return f, nil
	}
	return c.openFile(ctx, name)
}

// acquireKept is acquire of a file that is kept. For any other file it returns nil.
func (c *fileCache) acquireKept(name string) *cachedFile {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f := c.known[name]
	if f == nil || f.kept == nil {
		return nil
	}
	f.kept.refs.acquire() // it has not ended, since it is kept
	if !f.kept.touched.Load() {
		f.kept.touched.Store(true)
	}
	return f.kept
}

// release drops a reference. With the last one, the file is closed.
func (f *cachedFile) release() {
	if f.refs.release() {
		f.Close() // loses nothing: it was only read
		<-f.slots
	}
}

// reserve waits for the slot of one more file. If there is none, it closes another file.
func (c *fileCache) reserve(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}
	defer c.wait()()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait begins to wait for a slot: one kept file is closed, when the reads of it have ended. The
// caller calls what wait returns when it does not wait any more.
func (c *fileCache) wait() (done func()) {
	c.mu.Lock()
	var evicted *cachedFile
	if c.waiting++; c.kept.n > 0 {
		evicted = c.kept.take(func(f *cachedFile) bool { return f.touched.Swap(false) })
		evicted.owner.kept = nil
	}
	c.mu.Unlock()
	if evicted != nil {
		evicted.release()
	}
	return func() {
		c.mu.Lock()
		c.waiting--
		c.mu.Unlock()
	}
}

// openFile opens a file for a read, and keeps it. It returns [ErrReplaced] if the file is not the one
// that was opened first.
func (c *fileCache) openFile(ctx context.Context, name string) (*cachedFile, error) {
	if err := c.reserve(ctx); err != nil {
		return nil, err
	}
	c.mu.RLock()
	forgets := c.forgets
	c.mu.RUnlock()
	f, err := c.openReserved(name)
	if err != nil {
		return nil, err
	}
	if err := c.keep(name, f, forgets); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

// openReserved opens a file in the slot that is reserved for it, with one reference. If it cannot be
// opened, or what opens it panics, as an fs.FS may, the slot is free again.
func (c *fileCache) openReserved(name string) (*cachedFile, error) {
	opened := false
	defer func() {
		if !opened {
			<-c.slots
		}
	}()
	f := &cachedFile{slots: c.slots}
	var err error
	if f.File, f.info, err = c.open(name); err != nil {
		return nil, err
	}
	f.refs.n.Store(1)
	opened = true
	return f, nil
}

// keep keeps a file, unless it may have been forgotten since the count was forgets. Then it is for
// one read only.
func (c *fileCache) keep(name string, f *cachedFile, forgets int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.known[name]
	if known == nil {
		if forgets != c.forgets {
			return nil
		}
		known = &knownFile{info: f.info}
		c.known[name] = known
	}
	if !sameFile(known.info, f.info) {
		return fmt.Errorf("set: file %q: %w", name, ErrReplaced)
	}
	if known.kept == nil && c.waiting == 0 {
		f.refs.acquire()
		f.owner, known.kept, f.place = known, f, c.kept.add(f)
	}
	return nil
}

// sameFile reports whether a and b are of one file. Its number alone does not tell: that of a file
// that was deleted can be given to another one. What is not a file of the operating system has no
// number.
func sameFile(a, b fs.FileInfo) bool {
	numbered := os.SameFile(a, a)
	return (os.SameFile(a, b) || !numbered) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// close closes the file name, if it is kept. The next read opens it again, and compares it.
func (c *fileCache) close(name string) {
	c.mu.Lock()
	f := c.unkeep(name)
	c.mu.Unlock()
	if f != nil {
		f.release()
	}
}

// Forget is close, and forgets what the file was.
func (c *fileCache) Forget(name string) {
	c.mu.Lock()
	f := c.unkeep(name)
	c.forgets++
	delete(c.known, name)
	c.mu.Unlock()
	if f != nil {
		f.release()
	}
}

// unkeep removes the file name from those that are kept, and returns it, or nil. The caller holds mu,
// and releases the file without it.
func (c *fileCache) unkeep(name string) *cachedFile {
	known := c.known[name]
	if known == nil || known.kept == nil {
		return nil
	}
	f := known.kept
	known.kept = nil
	c.kept.remove(f.place)
	return f
}

// forgetAll forgets all files.
func (c *fileCache) forgetAll() {
	c.mu.Lock()
	c.forgets++
	known := c.known
	c.known, c.kept = map[string]*knownFile{}, clock[*cachedFile]{}
	c.mu.Unlock()
	for _, f := range known {
		if f.kept != nil {
			f.kept.release()
		}
	}
}
