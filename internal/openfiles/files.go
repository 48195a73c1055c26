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

// Files are the files of a directory. At most a number of them are open, and others are opened when they are read:
// one that was not used since the hand came by last is closed for it. A file that is opened again must be the one
// that was opened first. Files are safe for concurrent use.
type Files struct {
	open     func(name string) (regular.File, fs.FileInfo, error)
	replaced func(name string) error
	slots    chan struct{} // has a place for each file that may be open

	mu      sync.RWMutex
	known   map[string]*knownFile // by name, until they are forgotten
	kept    clock.Clock[File, *File]
	waiting atomic.Int64 // how many wait for a slot; nothing is kept meanwhile, so that each gets one
	forgets atomic.Int64 // how often a file was forgotten
	handles atomic.Int64 // how many were opened
}

// A knownFile is what is known of a file that was opened.
type knownFile struct {
	info fs.FileInfo // when it was opened first
	kept *File       // nil if it is closed, or open only for the reads that are under way
}

// A File is an open file with a reference count. Reads hold references, and so do Files while they keep it.
type File struct {
	regular.File
	info    fs.FileInfo
	slots   chan struct{}
	refs    refs.Count
	touched atomic.Bool // used since the clock came by

	owner *knownFile // that keeps it
	links clock.Links[File]
}

// ClockLinks returns the neighbors of the file.
func (f *File) ClockLinks() *clock.Links[File] { return &f.links }

// New returns Files of which at most that many are open. open opens one. replaced returns the error for a file that
// is another one when it is opened again.
func New(most int, open func(name string) (regular.File, fs.FileInfo, error), replaced func(name string) error) *Files {
	return &Files{open: open, replaced: replaced, slots: make(chan struct{}, most), known: map[string]*knownFile{}}
}

// ReadAt reads the file name. If as many files as may be open are being read, it waits.
func (c *Files) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	f, err := c.Acquire(ctx, name)
	if err != nil {
		return 0, err
	}
	defer f.Release()
	return f.ReadAt(p, off)
}

// Acquire returns the file name for a read, which releases it.
func (c *Files) Acquire(ctx context.Context, name string) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f := c.acquireKept(name); f != nil {
		return f, nil
	}
	return c.openFile(ctx, name)
}

// acquireKept is Acquire of a file that is kept. For any other file it returns nil.
func (c *Files) acquireKept(name string) *File {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f := c.known[name]
	if f == nil || f.kept == nil {
		return nil
	}
	f.kept.refs.Acquire() // it has not ended, since it is kept
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

// reserve waits for the slot of one more file. If there is none, it closes another file.
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

// evict begins to wait for a slot: one kept file is closed, when the reads of it have ended.
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

// openFile opens a file for a read, and keeps it. The file must be the one that was opened
// first.
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

// openReserved opens a file in the slot that is reserved for it, with one reference. If it cannot be
// opened, or what opens it panics, as an fs.FS may, the slot is free again.
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

// keep keeps a file, unless it may have been forgotten since the count was forgets. Then it is for
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

// sameFile reports whether a and b are of one file. Its number alone does not tell: that of a file
// that was deleted can be given to another one. What is not a file of the operating system has no
// number.
func sameFile(a, b fs.FileInfo) bool {
	numbered := os.SameFile(a, a)
	return (os.SameFile(a, b) || !numbered) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Close closes the file name, if it is kept. The next read opens it again, and compares it.
func (c *Files) Close(name string) { c.closeFile(name, false) }

// Forget is like Close, but the next read does not compare the file with the one that was opened first.
func (c *Files) Forget(name string) { c.closeFile(name, true) }

// closeFile is Close, and Forget if forget is set.
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
		closed.Release() // without mu
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

// A handle is a file of its own, also if others have the same name. It is open while it is read.
type handle struct {
	*io.SectionReader
	file *reader
	info fs.FileInfo
}

// Open opens a file of its own: the one that has the name now, whatever is read by that name.
func (c *Files) Open(name string) (fs.File, error) {
	own := &reader{files: c, name: fmt.Sprintf("%d\x00%s", c.handles.Add(1), name)}
	f, err := c.Acquire(context.Background(), own.name)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	return &handle{io.NewSectionReader(own, 0, f.info.Size()), own, f.info}, nil
}

// path returns the name of the file that Files know by a name, which is that of a handle too.
func path(name string) string {
	if _, path, isHandle := strings.Cut(name, "\x00"); isHandle {
		return path
	}
	return name
}

// A reader reads the file of a handle.
type reader struct {
	files  *Files
	name   string
	closed atomic.Bool
}

// ReadAt fails after Close. A read that overlaps it may have opened the file again, and closes it.
func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if r.closed.Load() {
		return 0, &fs.PathError{Op: "read", Path: path(r.name), Err: fs.ErrClosed}
	}
	defer func() {
		if r.closed.Load() {
			r.files.Forget(r.name)
		}
	}()
	return r.files.ReadAt(context.Background(), r.name, p, off)
}

// Stat returns what the file was when it was opened.
func (h *handle) Stat() (fs.FileInfo, error) { return h.info, nil }

func (h *handle) Close() error {
	h.file.closed.Store(true) // first, for reads that are under way
	h.file.files.Forget(h.file.name)
	return nil
}

var _ regular.File = (*handle)(nil)
