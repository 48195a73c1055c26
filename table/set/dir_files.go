package set

import (
	"container/ring"
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
)

// dirFiles are the files of a Dir: those that are open, and what identifies the others that were.
type dirFiles struct {
	slots chan struct{} // has a place for each file that may be open

	mu      sync.RWMutex
	known   map[string]*dirFile // by name, until they are forgotten
	kept    clock[*openFile]
	waiting int // how many wait for a slot; nothing is kept meanwhile, so that each gets one
	forgets int // how often a file was forgotten
}

// A dirFile is what is known of a file that was opened.
type dirFile struct {
	info fs.FileInfo // when it was opened first
	kept *openFile   // nil if it is not open but for reads that are under way
}

// An openFile is a file that is open. Its users are reads, and the Dir while it keeps it.
type openFile struct {
	*os.File
	info    fs.FileInfo
	slots   chan struct{}
	users   users
	touched atomic.Bool // used since the clock came by

	owner *dirFile   // that keeps it
	place *ring.Ring // in the clock
}

func newDirFiles(most int) dirFiles {
	return dirFiles{slots: make(chan struct{}, most), known: map[string]*dirFile{}}
}

// acquire returns the file name for a read, which releases it. It returns nil if it is not kept.
func (d *dirFiles) acquire(name string) *openFile {
	d.mu.RLock()
	defer d.mu.RUnlock()
	f := d.known[name]
	if f == nil || f.kept == nil {
		return nil
	}
	f.kept.users.acquire() // it has not ended, since it is kept
	if !f.kept.touched.Load() {
		f.kept.touched.Store(true)
	}
	return f.kept
}

// release ends a use. The last one closes the file.
func (o *openFile) release() {
	if o.users.release() {
		o.Close() // loses nothing: it was only read
		<-o.slots
	}
}

// reserve waits for the slot of one more file. If there is none, it closes another file.
func (d *dirFiles) reserve(ctx context.Context) error {
	select {
	case d.slots <- struct{}{}:
		return nil
	default:
	}
	defer d.wait()()
	select {
	case d.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait begins to wait for a slot: one kept file is closed, when the reads of it have ended. The
// caller calls what wait returns when it does not wait any more.
func (d *dirFiles) wait() (done func()) {
	d.mu.Lock()
	var evicted *openFile
	if d.waiting++; d.kept.n > 0 {
		evicted = d.kept.take(func(o *openFile) bool { return o.touched.Swap(false) })
		evicted.owner.kept = nil
	}
	d.mu.Unlock()
	if evicted != nil {
		evicted.release()
	}
	return func() {
		d.mu.Lock()
		d.waiting--
		d.mu.Unlock()
	}
}

// open opens a file for a read, and keeps it. It returns [ErrReplaced] if it is not the one that
// was opened first.
func (d *dirFiles) open(ctx context.Context, name string, open func(string) (*os.File, fs.FileInfo, error)) (*openFile, error) {
	if err := d.reserve(ctx); err != nil {
		return nil, err
	}
	d.mu.RLock()
	forgets := d.forgets
	d.mu.RUnlock()
	f, info, err := open(name)
	if err != nil {
		<-d.slots
		return nil, err
	}
	o := &openFile{File: f, info: info, slots: d.slots}
	o.users.n.Store(1)
	if err := d.keep(name, o, forgets); err != nil {
		o.release()
		return nil, err
	}
	return o, nil
}

// keep keeps a file, unless it may have been forgotten since the count was forgets. Then it is for
// one read only.
func (d *dirFiles) keep(name string, o *openFile, forgets int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.known[name]
	if f == nil {
		if forgets != d.forgets {
			return nil
		}
		f = &dirFile{info: o.info}
		d.known[name] = f
	}
	if !sameFile(f.info, o.info) {
		return fmt.Errorf("set: file %q: %w", name, ErrReplaced)
	}
	if f.kept == nil && d.waiting == 0 {
		o.users.acquire()
		o.owner, f.kept, o.place = f, o, d.kept.add(o)
	}
	return nil
}

// sameFile reports whether a and b are of one file. Its number alone does not tell: that of a file
// that was deleted can be given to another one.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// close closes the file name if it is kept: the next read opens it again, and compares it. With
// forget, it is then not known what it was.
func (d *dirFiles) close(name string, forget bool) {
	d.mu.Lock()
	var o *openFile
	if f := d.known[name]; f != nil && f.kept != nil {
		o, f.kept = f.kept, nil
		d.kept.remove(o.place)
	}
	if forget {
		d.forgets++
		delete(d.known, name)
	}
	d.mu.Unlock()
	if o != nil {
		o.release()
	}
}

// forgetAll forgets all files.
func (d *dirFiles) forgetAll() {
	d.mu.Lock()
	d.forgets++
	known := d.known
	d.known, d.kept = map[string]*dirFile{}, clock[*openFile]{}
	d.mu.Unlock()
	for _, f := range known {
		if f.kept != nil {
			f.kept.release()
		}
	}
}
