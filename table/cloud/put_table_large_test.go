package cloud_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"testing"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

var uncompressed = &table.WriterOptions{Compression: table.NoCompression}

// large yields entries of 17 MiB, which the SDK sends in parts.
func large() iter.Seq2[[]byte, []byte] {
	value := make([]byte, 1<<20)
	rng := rand.NewChaCha8([32]byte{17})
	return func(yield func(key, value []byte) bool) {
		for i := range 17 {
			rng.Read(value)
			if !yield(fmt.Appendf(nil, "%02d", i), value) {
				return
			}
		}
	}
}

// putLarge puts the table of these entries.
func putLarge(ctx context.Context, t *testing.T, bucket *blob.Bucket) (set.Table, error) {
	t.Helper()
	var b bytes.Buffer
	w, err := set.NewTableWriter(&b, uncompressed)
	noError(t, err)
	for key, value := range large() {
		noError(t, w.Append(key, value))
	}
	line, err := w.Close()
	noError(t, err)
	line.Name = line.SHA256 + ".ldb"
	return line, set.PutTable(ctx, newStore(bucket), line, &b)
}

// A large table is there when all of its parts are.
func TestPutInParts(t *testing.T) {
	emptyTemp(t)
	p := s3test.NewProxy(t)
	bucket := p.Bucket(t)
	line, err := putLarge(t.Context(), t, bucket)
	noError(t, err)
	if parts := p.Count(http.MethodPut); parts != 3 {
		t.Errorf("%d parts, want 3 of 8 MiB at most", parts)
	}
	contents, err := bucket.ReadAll(t.Context(), line.Name)
	if err != nil || int64(len(contents)) != line.Size {
		t.Fatalf("the object has %d bytes, %v, want %d", len(contents), err, line.Size)
	}
	r, err := table.NewReader(bytes.NewReader(contents), line.Size, nil)
	noError(t, err)
	for key, want := range large() {
		if got, err := r.Get(key); err != nil || !bytes.Equal(got, want) {
			t.Errorf("Get(%s): %d bytes, %v, want another value", key, len(got), err)
		}
	}
}

// If it is cancelled after some of its parts, there is no object.
func TestPutInPartsCancelled(t *testing.T) {
	emptyTemp(t)
	p := s3test.NewProxy(t)
	bucket := p.Bucket(t)
	putObject(t, bucket, "other", "")
	ctx, cancel := context.WithCancel(t.Context())
	p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if r.URL.Query().Get("partNumber") == "3" {
			io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done() // until the client has gone
			return
		}
		server.ServeHTTP(w, r)
	})
	_, err := putLarge(ctx, t, bucket)
	checkError(t, err, context.Canceled)
	checkDiff(t, "objects", map[string]int64{"other": 0}, objects(t, bucket))
}
