package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/set"
)

const (
	usualTail = 64 << 10 // bytes to read at the end of an object
	head      = 64 << 10 // bytes to read at the start of an object, at least
	longRead  = 32 << 10 // reads of this length are read ahead if the object is read through
	readAhead = 4 << 20
	near      = 32 << 10 // reads at most this far apart are sequential
)

// An object reads an object of a bucket with few requests, one at a time. It caches the end, where tables store
// indexes and filters, the start, which identifies the file's kind, and what it has read ahead. All requests read the
// same version. It is safe for concurrent use.
type object struct {
	set.File
	dir *bucketDir

	mu       sync.Mutex
	through  bool  // as in files.Reads
	tailLen  int64 // constant once tail is read
	head     extent
	tail     extent
	ahead    extent
	from, to int64 // range of the last read
	step     int64 // length of the last read-ahead; 0 unless reads are adjacent
	failed   error // a request's error after the SDK's retries: further requests fail at once
}

// An extent is a cached part of an object.
type extent struct {
	offset int64
	bytes  []byte
}

// copy fills p, which begins at off, as far as the extent contains bytes from there on.
func (e extent) copy(p []byte, off int64) int {
	if off < e.offset || off >= e.offset+int64(len(e.bytes)) {
		return 0
	}
	return copy(p, e.bytes[off-e.offset:])
}

func newObject(d *bucketDir, f set.File) *object {
	d.s.Forget(f.Name) // forget the version that an earlier object of that name read
	return &object{File: f, dir: d, tailLen: min(usualTail, f.Size)}
}

func (o *object) expect(r files.Reads) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.through = r.Through
	if o.tail.bytes == nil {
		o.tailLen = min(max(o.tailLen, r.Tail), o.Size)
	}
}

// dropEnds frees the cached start and end.
func (o *object) dropEnds() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.head, o.tail = extent{}, extent{}
}

// dropAhead frees what was read ahead, except for a manifest, which is opened several times.
func (o *object) dropAhead() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.isManifest() {
		o.ahead = extent{}
	}
}

func (o *object) isManifest() bool { return path.Ext(o.Name) == ".jsonl" }

// ReadAt reads from memory, or by one request.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
	n, kept, err := o.readAt(p, off)
	if kept > 0 {
		o.dir.keepEnd(o, kept)
	}
	return n, err
}

// readAt implements ReadAt. kept is the growth of the cached start and end.
func (o *object) readAt(p []byte, off int64) (n, kept int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	whole := p[:max(0, min(int64(len(p)), o.Size-off))]
	for _, e := range []extent{o.head, o.ahead, o.tail} {
		n += e.copy(whole[n:], off+int64(n))
	}
	end := off + int64(len(whole))
	follows, precedes := off > 0 && off >= o.to && off-o.to < near, end == o.from
	o.from, o.to = off, end
	if n < len(whole) {
		more, before := 0, len(o.head.bytes)+len(o.tail.bytes)
		more, err = o.fetch(whole[n:], off+int64(n), follows, precedes)
		n, kept = n+more, len(o.head.bytes)+len(o.tail.bytes)-before
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, kept, err
}

// fetch reads p, and reads ahead.
func (o *object) fetch(p []byte, off int64, follows, precedes bool) (int, error) {
	end, tail := off+int64(len(p)), o.Size-o.tailLen
	o.setStep(follows || precedes, off, end)
	switch {
	case off >= tail && o.tail.bytes == nil:
		return o.fetchInto(&o.tail, tail, o.Size, p, off)
	case o.step == 0 && off == 0:
		return o.fetchInto(&o.head, 0, min(max(end, head), o.Size), p, off)
	case o.step == 0:
		return o.request(p, off)
	case precedes && !follows:
		return o.fetchInto(&o.ahead, max(0, min(off, end-o.step)), end, p, off)
	}
	last := o.Size
	if o.tail.bytes != nil {
		last = max(end, o.tail.offset)
	}
	return o.fetchInto(&o.ahead, off, min(last, max(end, off+o.step)), p, off)
}

// setStep decides how much to read ahead: more if reads are adjacent.
func (o *object) setStep(adjacent bool, from, end int64) {
	isLong := end-from >= longRead
	switch {
	case isLong && (adjacent || o.through), from == 0 && o.isManifest():
		o.step = readAhead
	case adjacent:
		o.step = min(max(usualTail, 2*o.step), readAhead)
	default:
		o.step = 0
	}
}

// fetchInto reads an extent and fills p from it. At the end of the object, it requests one more byte, to notice a
// longer object in its place.
func (o *object) fetchInto(to *extent, from, end int64, p []byte, off int64) (int, error) {
	n := end - from
	if end == o.Size {
		n++
	}
	e := extent{from, make([]byte, n)}
	got, err := o.request(e.bytes, from)
	if e.bytes = e.bytes[:got]; err == nil {
		*to = e
	}
	return e.copy(p, off), err
}

// request reads p in one request. If p goes beyond the listed size, it must not be filled. Its error contains the
// object's path.
func (o *object) request(p []byte, off int64) (n int, err error) {
	if o.failed != nil {
		return 0, o.failed
	}
	n, err = o.dir.s.ReadAt(context.Background(), o.Name, p, off)
	short := err == io.EOF
	switch most := min(int64(len(p)), o.Size-off); {
	case int64(n) > most || short && int64(n) < most, errors.Is(err, set.ErrReplaced):
		o.dir.forget(o)
		o.failed = &fs.PathError{Op: "read", Path: o.dir.pathOf(o.Name), Err: files.ReplacedError("the object was replaced")}
		return 0, o.failed
	case err == nil || short:
		return n, nil
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // pathError adds the name
	}
	o.failed = o.dir.pathError("read", o.Name, err)
	return n, o.failed
}
