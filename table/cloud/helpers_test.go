package cloud_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/cloud/s3test"
)

var (
	noError   = errtest.NoError
	checkDiff = tabletest.Diff
)

// A store creates an empty bucket in one kind of object storage.
type store struct {
	name   string
	bucket func(t testing.TB) *blob.Bucket
}

// stores are all kinds of object storage in these tests. The S3 server runs in another process.
var stores = []store{
	{"memory", func(t testing.TB) *blob.Bucket {
		bucket := memblob.OpenBucket(nil)
		t.Cleanup(func() { bucket.Close() })
		return bucket
	}},
	{"files", func(t testing.TB) *blob.Bucket {
		bucket, err := fileblob.OpenBucket(t.TempDir(), nil)
		noError(t, err)
		t.Cleanup(func() { bucket.Close() })
		return bucket
	}},
	{"S3", func(t testing.TB) *blob.Bucket { return s3test.NewProxy(t).Bucket(t) }},
}

// newStore returns a Store for the bucket, with the pins of all stores.
func newStore(bucket *blob.Bucket) *cloud.Store {
	return &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{s3pin.Pin{}}, URL: "store/"}
}

// newProxy returns a proxy of the S3 server, and an empty bucket behind it.
func newProxy(t testing.TB) (*s3test.Proxy, *blob.Bucket) {
	p := s3test.NewProxy(t)
	return p, p.Bucket(t)
}

// putObject puts an object into the bucket.
func putObject(t testing.TB, bucket *blob.Bucket, key, contents string) {
	t.Helper()
	noError(t, bucket.WriteAll(context.Background(), key, []byte(contents), nil))
}

// replaceObject replaces an object. It repeats that until the ETag or modification time differs, which takes some
// milliseconds in a directory.
func replaceObject(t testing.TB, bucket *blob.Bucket, key, contents string) {
	t.Helper()
	before, err := bucket.Attributes(context.Background(), key)
	noError(t, err)
	for {
		putObject(t, bucket, key, contents)
		after, err := bucket.Attributes(context.Background(), key)
		noError(t, err)
		if after.ETag != before.ETag || !after.ModTime.Equal(before.ModTime) {
			return
		}
	}
}

// objects returns the names and sizes of the bucket's objects.
func objects(t testing.TB, bucket *blob.Bucket) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	list := bucket.List(nil)
	for {
		o, err := list.Next(context.Background())
		if err == io.EOF {
			return found
		}
		noError(t, err)
		found[o.Key] = o.Size
	}
}

// checkError checks that err contains each of the texts and, unless want is nil, wraps want.
func checkError(t testing.TB, err, want error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", texts)
	}
	if want != nil && !errors.Is(err, want) {
		t.Errorf("%v: %v is not in its chain", err, want)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q in it", err, text)
		}
	}
}
