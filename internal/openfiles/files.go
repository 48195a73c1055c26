// Package openfiles keeps a bounded number of files open.
package openfiles

import (
	"context"
	"io"
	"io/fs"
	"os"
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

	known sync.Map // each name's *knownFile, until it is forgotten

	mu      sync.Mutex
	kept    clock.Clock[File, *File]
	waiting atomic.Int64 // number of waits for a slot; meanwhile no file is kept, so that each gets one
}

// A knownFile is a name and the file that had it at first. The Files' mu guards changes of info and kept.
type knownFile struct {
	name      string
	info      fs.FileInfo          // from the first opening; nil before
	kept      atomic.Pointer[File] // nil if it is closed, or open only for current reads
	forgotten atomic.Bool          // it is not kept any more
}

// A File is an open file with a reference count. Each read holds a reference, and Files holds one while it keeps the
// file.
type File struct {
	regular.File
	clock.Links[File]
	info    fs.FileInfo
	known   *knownFile
	slots   chan struct{}
	refs    refs.Count
	touched atomic.Bool // used since the hand's last visit
}

// New returns Files that keeps at most that many files open. open opens a file. replaced returns the error for a
// name that refers to a different file when it is opened again.
func New(most int, open func(name string) (regular.File, fs.FileInfo, error), replaced func(name string) error) *Files {
	return &Files{open: open, replaced: replaced, slots: make(chan struct{}, most)}
}

// ReadAt reads the named file. If all slots are in use by reads, it waits.
func (c *Files) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	return c.readAt(ctx, c.named(name), p, off)
}

func (c *Files) readAt(ctx context.Context, known *knownFile, p []byte, off int64) (int, error) {
	f, err := c.acquire(ctx, known)
	if err != nil {
		return 0, err
	}
	defer f.Release()
	return f.ReadAt(p, off)
}

// Acquire returns the named file for a read. The caller must call Release.
func (c *Files) Acquire(ctx context.Context, name string) (*File, error) {
	return c.acquire(ctx, c.named(name))
}

// named returns the knownFile of a name.
func (c *Files) named(name string) *knownFile {
	known, found := c.known.Load(name)
	if !found {
		known, _ = c.known.LoadOrStore(name, &knownFile{name: name})
	}
	return known.(*knownFile)
}

// acquire opens a file for a read, unless it is kept.
func (c *Files) acquire(ctx context.Context, known *knownFile) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := known.kept.Load()
	if f == nil || !f.refs.Acquire() {
		return c.openFile(ctx, known)
	}
	if !f.touched.Load() {
		f.touched.Store(true)
	}
	return f, nil
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
		evicted.known.kept.Store(nil)
	}
	c.mu.Unlock()
	if evicted != nil {
		evicted.Release()
	}
}

// openFile opens a file for a read, and keeps it. The file must be the same as at first.
func (c *Files) openFile(ctx context.Context, known *knownFile) (*File, error) {
	if err := c.reserve(ctx); err != nil {
		return nil, err
	}
	f, err := c.openReserved(known)
	if err != nil {
		return nil, err
	}
	if err := c.keep(f); err != nil {
		f.Release()
		return nil, err
	}
	return f, nil
}

// openReserved opens a file in the reserved slot, with one reference. If open fails, or panics as an fs.FS may, the
// slot is freed.
func (c *Files) openReserved(known *knownFile) (f *File, err error) {
	defer func() {
		if f == nil {
			<-c.slots
		}
	}()
	file, info, err := c.open(known.name)
	if err != nil {
		return nil, err
	}
	f = &File{File: file, info: info, known: known, slots: c.slots}
	f.refs.Acquire()
	return f, nil
}

// keep keeps a file, if it is the same as at first. If it was forgotten meanwhile, it is for one read only.
func (c *Files) keep(f *File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := f.known
	if known.info == nil {
		known.info = f.info
	} else if !sameFile(known.info, f.info) {
		return c.replaced(known.name)
	}
	if known.kept.Load() == nil && !known.forgotten.Load() && c.waiting.Load() == 0 {
		f.refs.Acquire()
		known.kept.Store(f)
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
func (c *Files) Close(name string) {
	if known, found := c.known.Load(name); found {
		c.closeKept(known.(*knownFile))
	}
}

// closeKept closes a file if it is kept.
func (c *Files) closeKept(known *knownFile) {
	c.mu.Lock()
	f := known.kept.Swap(nil)
	if f != nil {
		c.kept.Remove(f)
	}
	c.mu.Unlock()
	if f != nil {
		f.Release() // not under mu
	}
}

// Forget is like Close, but the next read does not check that it is the same file.
func (c *Files) Forget(name string) {
	if known, found := c.known.LoadAndDelete(name); found {
		c.forget(known.(*knownFile))
	}
}

// forget closes a file, which is not in known, for good.
func (c *Files) forget(known *knownFile) {
	known.forgotten.Store(true) // first, for reads that are opening it
	c.closeKept(known)
}

// ForgetAll forgets all files, except handles.
func (c *Files) ForgetAll() {
	for name := range c.known.Range {
		c.Forget(name.(string))
	}
}

// A handle is an independent file, even if other files have the same name. It is open only during reads.
type handle struct {
	*io.SectionReader // reads by the handle's ReadAt
	files             *Files
	file              *knownFile // not in known, and forgotten after Close
}

// Open returns a new handle for the file that has the name now, independent of the file that ReadAt reads under that
// name.
func (c *Files) Open(name string) (fs.File, error) {
	h := &handle{files: c, file: &knownFile{name: name}}
	f, err := c.acquire(context.Background(), h.file)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	h.SectionReader = io.NewSectionReader(h, 0, f.info.Size())
	return h, nil
}

// ReadAt fails after Close.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	if h.file.forgotten.Load() {
		return 0, &fs.PathError{Op: "read", Path: h.file.name, Err: fs.ErrClosed}
	}
	return h.files.readAt(context.Background(), h.file, p, off)
}

// Stat returns the FileInfo from when the file was opened.
func (h *handle) Stat() (fs.FileInfo, error) { return h.file.info, nil }

func (h *handle) Close() error {
	h.files.forget(h.file)
	return nil
}

var _ regular.File = (*handle)(nil)
