package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

var noError = errtest.NoError

// newBucket returns the bucketDir of a bucket with one object of random bytes.
func newBucket(t *testing.T, name string, size int) (d *bucketDir, contents []byte) {
	t.Helper()
	b := memblob.OpenBucket(nil)
	t.Cleanup(func() { b.Close() })
	contents = make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size)}).Read(contents)
	put(t, b, name, contents)
	return newBucketDir("s3://lists", &cloud.Store{Bucket: b, URL: "s3://lists/"}, false), contents
}

func put(t *testing.T, b *blob.Bucket, name string, contents []byte) {
	t.Helper()
	noError(t, b.WriteAll(context.Background(), name, contents, nil))
}

// checkRead compares a read with the contents.
func checkRead(t *testing.T, f io.ReaderAt, contents []byte, off, n int) {
	t.Helper()
	p := make([]byte, n)
	got, err := f.ReadAt(p, int64(off))
	want := contents[min(off, len(contents)):min(off+n, len(contents))]
	if !bytes.Equal(p[:got], want) || (err == io.EOF) != (len(want) < n) || err != nil && err != io.EOF {
		t.Errorf("ReadAt of %d bytes at %d: %d bytes, %v, want %d", n, off, got, err, len(want))
	}
}

// Reads in any order return the object's bytes, whatever is read ahead and cached.
func TestReads(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1000, usualTail, usualTail + 1, 3 << 20, 9<<20 + 5} {
		for _, name := range []string{"t.ldb", "set.jsonl"} {
			d, contents := newBucket(t, name, size)
			f, info, err := d.Open(name)
			if err != nil || info.Size() != int64(size) {
				t.Fatal(info, err)
			}
			rng := rand.New(rand.NewPCG(uint64(size), 1))
			off, n := 0, 0
			for range 300 {
				switch rng.IntN(6) {
				case 0:
					off, n = rng.IntN(size+100), rng.IntN(100_000)
				case 1:
					off, n = max(0, size-rng.IntN(100_000)), 1000
				case 2:
					n = 1 + rng.IntN(100_000)
					off = max(0, off-n)
				case 3:
					d.Expect(name, files.Reads{Tail: int64(rng.IntN(200_000)), Through: rng.IntN(2) == 0})
					f.Close()
				default:
					off, n = off+n, 1+rng.IntN(300_000)
				}
				checkRead(t, f, contents, off, n)
			}
		}
	}
}

// An object is safe for concurrent use.
func TestConcurrentReads(t *testing.T) {
	t.Parallel()
	d, contents := newBucket(t, "t.ldb", 6<<20)
	var reading sync.WaitGroup
	for i := range 8 {
		reading.Go(func() {
			f, _, err := d.Open("t.ldb")
			if err != nil {
				t.Error(err)
				return
			}
			d.Fetch([]string{"t.ldb", "none"})
			for off := i * 1000; off < len(contents); off += 50_000 {
				checkRead(t, f, contents, off, 50_000)
			}
		})
	}
	reading.Wait()
}

// If an object is replaced while it is read, reads return only cached bytes. After the directory is listed again,
// the new object is read.
func TestReplacedObject(t *testing.T) {
	t.Parallel()
	d, _ := newBucket(t, "t.ldb", 1<<20)
	f, _, err := d.Open("t.ldb")
	noError(t, err)
	if _, err := f.ReadAt(make([]byte, 100), 0); err != nil {
		t.Fatal(err)
	}
	other := bytes.Repeat([]byte("other"), 1<<18)
	put(t, d.s.Bucket, "t.ldb", other)
	for range 2 {
		if n, err := f.ReadAt(make([]byte, 100), 500_000); n > 0 || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadAt of another object: %d, %v", n, err)
		}
	}
	for range 2 { // the first call returns the previous list
		if _, err := d.Names(); err != nil {
			t.Fatal(err)
		}
	}
	f, _, err = d.Open("t.ldb")
	noError(t, err)
	checkRead(t, f, other, 0, len(other))
}

// If an object was replaced after it was listed, even by a longer one, reads fail: a new manifest is not reported
// as damaged.
func TestReplacedSinceListed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"t.ldb", "set.jsonl"} {
		for _, size := range []int{999, 1001, 5 << 20} {
			d, contents := newBucket(t, name, 1000)
			f, _, err := d.Open(name)
			noError(t, err)
			put(t, d.s.Bucket, name, bytes.Repeat([]byte("o"), size))
			p := make([]byte, len(contents))
			n, err := f.ReadAt(p, 0)
			if n > 0 || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name+": the object was replaced") {
				t.Errorf("ReadAt of %s, now of %d bytes: %d, %v", name, size, n, err)
			}
		}
	}
}

// The cached ends of tables take a limited amount of memory.
func TestTailsAreLimited(t *testing.T) {
	t.Parallel()
	d, contents := newBucket(t, "0", 24<<20)
	names := []string{"0", "1", "2", "3"}
	for _, name := range names[1:] {
		put(t, d.s.Bucket, name, contents)
	}
	for _, name := range names {
		d.Expect(name, files.Reads{Tail: 20 << 20})
	}
	d.Fetch(names)
	kept := 0
	var objects []*object
	for _, name := range names {
		o, err := d.object(name)
		noError(t, err)
		objects, kept = append(objects, o), kept+len(o.tail.bytes)
	}
	if kept > maxEnds || kept < maxEnds/2 {
		t.Errorf("%d bytes are kept, want at most %d", kept, maxEnds)
	}
	for _, o := range objects { // an end that is read again replaces another one
		checkRead(t, o, contents, len(contents)-100, 100)
	}
}
