package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/set"
)

// A bucketDir presents a bucket as a directory. It lists the objects once, and again at each further call of Names.
type bucketDir struct {
	name string // of the directory
	s    *cloud.Store
	one  bool // a single file was given: list the directory only if necessary

	mu      sync.Mutex
	listed  map[string]set.File // nil until the objects are listed
	used    bool                // Names has returned the list
	objects map[string]*object
	ends    []keptEnd // oldest first
	kept    int       // bytes in ends
}

func newBucketDir(name string, s *cloud.Store, one bool) *bucketDir {
	return &bucketDir{name: name, s: s, one: one, objects: map[string]*object{}}
}

// Names lists the objects. It forgets those that have changed since the previous list.
func (d *bucketDir) Names() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.list(d.used)
	d.used = true
	return slices.Collect(maps.Keys(d.listed)), err
}

func (d *bucketDir) list(again bool) error {
	if d.listed != nil && !again {
		return nil
	}
	all, err := d.s.List(context.Background())
	if err != nil {
		return fmt.Errorf("list %s: %w", d.s.URL, err)
	}
	listed := map[string]set.File{}
	for _, f := range all {
		listed[f.Name] = f
	}
	maps.DeleteFunc(d.objects, func(name string, o *object) bool { return listed[name] != o.File })
	d.listed = listed
	return nil
}

// Stat describes an object.
func (d *bucketDir) Stat(name string) (fs.FileInfo, error) {
	if name == "" {
		return info{set.File{Name: d.name}, fs.ModeDir | 0o777}, nil
	}
	o, err := d.object(name)
	if err != nil {
		return nil, d.pathError("stat", name, err)
	}
	return info{o.File, 0o666}, nil
}

// pathError returns an error like those of package os.
func (d *bucketDir) pathError(op, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = syscall.ENOENT
	}
	return &fs.PathError{Op: op, Path: d.pathOf(name), Err: err}
}

func (d *bucketDir) pathOf(name string) string { return d.name + "/" + name }

// An openObject is an open file.
type openObject struct {
	*io.SectionReader
	object *object
}

// Open opens an object, without a request if the directory is listed.
func (d *bucketDir) Open(name string) (regular.File, fs.FileInfo, error) {
	o, err := d.object(name)
	if err != nil {
		return nil, nil, d.pathError("open", name, err)
	}
	f := openObject{io.NewSectionReader(o, 0, o.Size), o}
	info, err := f.Stat()
	return f, info, err
}

func (f openObject) Stat() (fs.FileInfo, error) { return info{f.object.File, 0o666}, nil }

// Close frees the read-ahead buffer.
func (f openObject) Close() error {
	f.object.dropAhead()
	return nil
}

// object returns the object of that name.
func (d *bucketDir) object(name string) (*object, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.objects[name]; o != nil {
		return o, nil
	}
	f, err := d.find(name)
	if err != nil {
		return nil, err
	}
	o := newObject(d, f)
	d.objects[name] = o
	return o, nil
}

// find describes an object.
func (d *bucketDir) find(name string) (f set.File, err error) {
	if d.one && d.listed == nil {
		return d.s.Stat(context.Background(), name)
	}
	if err := d.list(false); err != nil {
		return f, err
	}
	f, ok := d.listed[name]
	if !ok {
		err = fs.ErrNotExist
	}
	return f, err
}

// forget forgets a replaced object. The next Open opens the current one.
func (d *bucketDir) forget(o *object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.objects[o.Name] == o {
		delete(d.objects, o.Name)
	}
}

// Expect announces how an object will be read.
func (d *bucketDir) Expect(name string, r files.Reads) {
	if o, err := d.object(name); err == nil {
		o.expect(r)
	}
}

// fetchAtATime is the number of table ends that are read at a time.
const fetchAtATime = 16

// Fetch reads the ends of objects, several at a time.
func (d *bucketDir) Fetch(names []string) {
	var g errgroup.Group
	g.SetLimit(fetchAtATime)
	for _, name := range names {
		g.Go(func() error {
			if o, err := d.object(name); err == nil {
				o.ReadAt(make([]byte, 1), o.Size-1) // the next read returns the error
			}
			return nil
		})
	}
	g.Wait() // no function returns an error
}

// maxEnds limits the bytes of starts and ends that are cached until tables are open.
const maxEnds = 64 << 20

// A keptEnd is the cached start or end of an object.
type keptEnd struct {
	object *object
	bytes  int
}

// keepEnd records that an object has cached bytes, and frees the oldest ones.
func (d *bucketDir) keepEnd(o *object, bytes int) {
	d.mu.Lock()
	d.ends, d.kept = append(d.ends, keptEnd{o, bytes}), d.kept+bytes
	first := 0
	for ; d.kept > maxEnds && first < len(d.ends)-1; first++ {
		d.kept -= d.ends[first].bytes
	}
	gone := d.ends[:first]
	d.ends = d.ends[first:]
	d.mu.Unlock() // before dropEnds: a reader of the object may wait for d.mu
	for _, e := range gone {
		e.object.dropEnds()
	}
}

// info describes an object, or the directory.
type info struct {
	set.File
	mode fs.FileMode
}

func (i info) Name() string       { return i.File.Name }
func (i info) Size() int64        { return i.File.Size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.Modified }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
