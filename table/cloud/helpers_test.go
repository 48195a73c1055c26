package cloud_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/cloud/s3test"
)

var noError = errtest.NoError

// A store makes an empty bucket of a kind of object storage.
type store struct {
	name   string
	bucket func(t testing.TB) *blob.Bucket
}

// stores are all kinds of object storage in these tests. S3 is on a server in another process.
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

// newStore returns a Store of the bucket with the pins of the stores.
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

// replaceObject puts another object in the place of one. It does so until that has another ETag
// or time of modification, which in a directory takes some milliseconds.
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

// objects returns the objects of the bucket, with their sizes.
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

// checkDiff checks that got is want.
func checkDiff(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// checkError checks that err has each of the texts, and want in its chain unless it is nil.
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
