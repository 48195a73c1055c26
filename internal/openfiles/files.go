// Package openfiles keeps a bounded number of files open.
package openfiles

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/internal/refs"
	"github.com/sievetable/sievetable/internal/regular"
)

// Files opens the files of a directory as they are read, and keeps a bounded number of them open. To open another
// one, it closes a file that was not used recently. A file that is opened again must be the same file as at first.
// Files is safe for concurrent use.
type Files struct {
	open     func(name string) (regular.File, fs.FileInfo, error)
	replaced func(name string) error
	slots    chan struct{} // one slot for each file that may be open

	mu      sync.RWMutex
	known   map[string]*knownFile // by name, until they are forgotten
	kept    clock.Clock[File, *File]
	waiting atomic.Int64 // number of waits for a slot; meanwhile no file is kept, so that each gets one
	forgets atomic.Int64 // number of calls of Forget and ForgetAll
	handles atomic.Int64 // number of opened handles
}

// A knownFile describes a file that has been opened.
type knownFile struct {
	info fs.FileInfo // from the first opening
	kept *File       // nil if it is closed, or open only for current reads
}

// A File is an open file with a reference count. Each read holds a reference, and Files holds one while it keeps the
// file.
type File struct {
	regular.File
	info    fs.FileInfo
	slots   chan struct{}
	refs    refs.Count
	touched atomic.Bool // used since the hand's last visit

	owner *knownFile // keeps the File
	links clock.Links[File]
}

// ClockLinks returns the neighbors of the file.
func (f *File) ClockLinks() *clock.Links[File] { return &f.links }

// New returns Files that keeps at most that many files open. open opens a file. replaced returns the error for a
// name that refers to a different file when it is opened again.
func New(most int, open func(name string) (regular.File, fs.FileInfo, error), replaced func(name string) error) *Files {
	return &Files{open: open, replaced: replaced, slots: make(chan struct{}, most), known: map[string]*knownFile{}}
}

// ReadAt reads the named file. If all slots are in use by reads, it waits.
func (c *Files) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	f, err := c.Acquire(ctx, name)
	if err != nil {
		return 0, err
	}
	defer f.Release()
	return f.ReadAt(p, off)
}

// Acquire returns the named file for a read. The caller must call Release.
func (c *Files) Acquire(ctx context.Context, name string) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f := c.acquireKept(name); f != nil {
		return f, nil
	}
	return c.openFile(ctx, name)
}

// acquireKept is like Acquire, but returns nil if the file is not kept.
func (c *Files) acquireKept(name string) *File {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f := c.known[name]
	if f == nil || f.kept == nil {
		return nil
	}
	f.kept.refs.Acquire() // succeeds, since the file is kept
	if !f.kept.touched.Load() {
		f.kept.touched.Store(true)
	}
	return f.kept
}

// Release drops a reference. With the last one, the file is closed.
func (f *File) Release() {
	if f.refs.Release() {
		f.Close() // loses nothing: it was only read
		<-f.slots
	}
}

// reserve waits for a slot for one more file. If none is free, it closes another file.
func (c *Files) reserve(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}
	c.evict()
	defer c.waiting.Add(-1)
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// evict starts to wait for a slot. It closes one kept file, once the reads of that file have ended.
func (c *Files) evict() {
	c.mu.Lock()
	var evicted *File
	if c.waiting.Add(1); c.kept.Len() > 0 {
		evicted = c.kept.Take(func(f *File) bool { return f.touched.Swap(false) })
		evicted.owner.kept = nil
	}
	c.mu.Unlock()
	if evicted != nil {
		evicted.Release()
	}
}

// openFile opens a file for a read, and keeps it. The file must be the same as at first.
func (c *Files) openFile(ctx context.Context, name string) (*File, error) {
	if err := c.reserve(ctx); err != nil {
		return nil, err
	}
	forgets := c.forgets.Load()
	f, err := c.openReserved(name)
	if err != nil {
		return nil, err
	}
	if err := c.keep(name, f, forgets); err != nil {
		f.Release()
		return nil, err
	}
	return f, nil
}

// openReserved opens a file in the reserved slot, with one reference. If open fails, or panics as an fs.FS may, the
// slot is freed.
func (c *Files) openReserved(name string) (f *File, err error) {
	defer func() {
		if f == nil {
			<-c.slots
		}
	}()
	file, info, err := c.open(path(name))
	if err != nil {
		return nil, err
	}
	f = &File{File: file, info: info, slots: c.slots}
	f.refs.Set(1)
	return f, nil
}

// keep keeps a file, unless files were forgotten since the count was forgets, perhaps this one. Then the file is for
// one read only.
func (c *Files) keep(name string, f *File, forgets int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.known[name]
	if known == nil {
		if forgets != c.forgets.Load() {
			return nil
		}
		known = &knownFile{info: f.info}
		c.known[name] = known
	}
	if !sameFile(known.info, f.info) {
		return c.replaced(path(name))
	}
	if known.kept == nil && c.waiting.Load() == 0 {
		f.refs.Acquire()
		f.owner, known.kept = known, f
		c.kept.Add(f)
	}
	return nil
}

// sameFile reports whether a and b describe the same file. The file number alone is not enough, since the number of
// a deleted file can be reused. Files outside the operating system have no number.
func sameFile(a, b fs.FileInfo) bool {
	numbered := os.SameFile(a, a)
	return (os.SameFile(a, b) || !numbered) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Close closes the named file if it is kept. The next read opens it again, and checks that it is the same file.
func (c *Files) Close(name string) { c.closeFile(name, false) }

// Forget is like Close, but the next read does not check that it is the same file.
func (c *Files) Forget(name string) { c.closeFile(name, true) }

// closeFile implements Close and, if forget is set, Forget.
func (c *Files) closeFile(name string, forget bool) {
	c.mu.Lock()
	var closed *File
	if known := c.known[name]; known != nil && known.kept != nil {
		closed, known.kept = known.kept, nil
		c.kept.Remove(closed)
	}
	if forget {
		c.forgets.Add(1)
		delete(c.known, name)
	}
	c.mu.Unlock()
	if closed != nil {
		closed.Release() // not under mu
	}
}

// ForgetAll forgets all files.
func (c *Files) ForgetAll() {
	c.mu.Lock()
	c.forgets.Add(1)
	known := c.known
	c.known, c.kept = map[string]*knownFile{}, clock.Clock[File, *File]{}
	c.mu.Unlock()
	for _, f := range known {
		if f.kept != nil {
			f.kept.Release()
		}
	}
}

// A handle is an independent file, even if other files have the same name. It is open only during reads.
type handle struct {
	*io.SectionReader // reads by the handle's ReadAt
	files             *Files
	name              string
	info              fs.FileInfo
	closed            atomic.Bool
}

// Open returns a new handle for the file that has the name now, independent of the file that ReadAt reads under that
// name.
func (c *Files) Open(name string) (fs.File, error) {
	h := &handle{files: c, name: fmt.Sprintf("%d\x00%s", c.handles.Add(1), name)}
	f, err := c.Acquire(context.Background(), h.name)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	h.SectionReader, h.info = io.NewSectionReader(h, 0, f.info.Size()), f.info
	return h, nil
}

// path returns the name under which Files opens a file, given its name or a handle's.
func path(name string) string {
	if _, path, isHandle := strings.Cut(name, "\x00"); isHandle {
		return path
	}
	return name
}

// ReadAt fails after Close. A read that overlaps Close may have reopened the file, and closes it again.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	if h.closed.Load() {
		return 0, &fs.PathError{Op: "read", Path: path(h.name), Err: fs.ErrClosed}
	}
	defer func() {
		if h.closed.Load() {
			h.files.Forget(h.name)
		}
	}()
	return h.files.ReadAt(context.Background(), h.name, p, off)
}

// Stat returns the FileInfo from when the file was opened.
func (h *handle) Stat() (fs.FileInfo, error) { return h.info, nil }

func (h *handle) Close() error {
	h.closed.Store(true) // first, for reads that are under way
	h.files.Forget(h.name)
	return nil
}

var _ regular.File = (*handle)(nil)
