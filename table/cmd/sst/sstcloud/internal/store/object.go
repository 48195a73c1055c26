package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

const (
	usualTail = 64 << 10 // bytes at the end of an object that are read together
	longRead  = 32 << 10 // a read of this length is one of many, if the object is read through
	readAhead = 4 << 20
)

// An object reads an object of a bucket by few requests. It keeps the end, where tables have their indexes and
// filters, and what it has read ahead. It is safe for concurrent use.
type object struct {
	Object
	dir    *bucketDir
	source *cloud.Source // which ties all reads to one version

	mu       sync.Mutex
	through  bool  // as of files.Reads
	tailLen  int64 // changes only until the end is read
	tail     extent
	ahead    extent
	from, to int64 // of the last read
	step     int64 // how much was read ahead of the last of some reads that followed each other
	failed   error // of a request, which the SDK has sent again: another one would fail too
}

// An extent is a part of an object.
type extent struct {
	offset int64
	bytes  []byte
}

// copy copies the start of p, which is at off, as far as the extent has it.
func (e extent) copy(p []byte, off int64) int {
	if off < e.offset || off >= e.offset+int64(len(e.bytes)) {
		return 0
	}
	return copy(p, e.bytes[off-e.offset:])
}

func newObject(d *bucketDir, o Object) *object {
	return &object{Object: o, dir: d, source: d.s.Source(), tailLen: min(usualTail, o.Size)}
}

func (o *object) expect(r files.Reads) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.through = r.Through
	if o.tail.bytes == nil {
		o.tailLen = min(max(o.tailLen, r.Tail), o.Size)
	}
}

func (o *object) dropTail() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail = extent{}
}

// dropAhead frees what was read ahead, but for a manifest, which is opened several times.
func (o *object) dropAhead() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.isManifest() {
		o.ahead = extent{}
	}
}

func (o *object) isManifest() bool { return path.Ext(o.Key) == ".jsonl" }

// ReadAt reads from memory, or by one request.
func (o *object) ReadAt(p []byte, off int64) (n int, err error) {
	whole := p[:max(0, min(int64(len(p)), o.Size-off))]
	n, plan := o.begin(whole, off)
	if n < len(whole) {
		var more int
		more, err = o.request(whole[n:], off+int64(n), plan)
		n += more
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// A plan is what a request reads, and what becomes of it.
type plan struct {
	from, to int64
	keep     func(extent) // nil: nothing but what was asked for is read
	failed   error        // why there is no request
}

// begin copies what is in memory, and plans a request for the rest.
func (o *object) begin(p []byte, off int64) (n int, request plan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n = o.ahead.copy(p, off)
	n += o.tail.copy(p[n:], off+int64(n))
	end := off + int64(len(p))
	follows, precedes := off == o.to && off > 0, end == o.from
	o.from, o.to = off, end
	if n == len(p) || o.failed != nil {
		return n, plan{failed: o.failed}
	}
	from := off + int64(n)
	o.setStep(follows || precedes, from, end)
	tail := o.Size - o.tailLen
	switch {
	case from >= tail && o.tail.bytes == nil:
		return n, plan{from: tail, to: o.Size, keep: o.keepTail}
	case o.step == 0:
		return n, plan{from: from, to: end}
	case precedes && !follows:
		return n, plan{from: max(0, min(from, end-o.step)), to: end, keep: o.keepAhead}
	}
	last := o.Size
	if o.tail.bytes != nil {
		last = max(end, o.tail.offset)
	}
	return n, plan{from: from, to: min(last, max(end, from+o.step)), keep: o.keepAhead}
}

// setStep decides how much is read at once, by whether a read follows or precedes the one before.
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

func (o *object) keepTail(e extent) {
	o.mu.Lock()
	o.tail = e
	o.mu.Unlock()
	o.dir.keepTail(keptTail{o, int64(len(e.bytes))})
}

func (o *object) keepAhead(e extent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ahead = e
}

// request reads p as planned.
func (o *object) request(p []byte, off int64, planned plan) (int, error) {
	if planned.failed != nil {
		return 0, planned.failed
	}
	if planned.keep == nil {
		return o.read(p, off)
	}
	e := extent{planned.from, make([]byte, planned.to-planned.from)}
	n, err := o.read(e.bytes, e.offset)
	if e.bytes = e.bytes[:n]; err == nil {
		planned.keep(e)
	}
	return e.copy(p, off), err
}

// read is a request. Its error has the path of the object.
func (o *object) read(p []byte, off int64) (int, error) {
	n, err := within(context.Background(), func(ctx context.Context) (int, error) {
		n, err := o.source.ReadAt(ctx, o.Key, p, off)
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the name
		}
		return n, err
	})
	if err == nil {
		return n, nil
	}
	if errors.Is(err, cloud.ErrReplaced) || err == io.EOF { // it is shorter than it was listed
		o.dir.forget(o)
		err = fmt.Errorf("another object has this name since it was opened: %w", fs.ErrNotExist)
	}
	err = o.dir.pathError("read", o.Key, err)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
	return n, err
}
