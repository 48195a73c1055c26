package gcspin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"cloud.google.com/go/storage"
	"github.com/fsouza/fake-gcs-server/fakestorage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcerrors"
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/gcspin"
	"github.com/sievetable/sievetable/table/set"
)

var noError = errtest.NoError

// openBucket opens the bucket of a new server. seen is called for each request.
func openBucket(t *testing.T, seen func(*http.Request)) *blob.Bucket {
	t.Helper()
	gcs, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", PublicHost: "127.0.0.1"})
	noError(t, err)
	t.Cleanup(gcs.Stop)
	gcs.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "tables"})
	server, err := url.Parse(gcs.URL())
	noError(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(server)
		r.Out.Host = server.Host
		seen(r.In)
	}})
	t.Cleanup(proxy.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(proxy.URL, "http://"))
	bucket, err := blob.OpenBucket(context.Background(), "gs://tables")
	noError(t, err)
	t.Cleanup(func() { bucket.Close() })
	return bucket
}

// Reads after the first successful one require its generation. If the object is replaced, they fail.
func TestPin(t *testing.T) {
	var required []string
	bucket := openBucket(t, func(r *http.Request) {
		if r.Method == http.MethodGet {
			required = append(required, r.Header.Get("x-goog-if-generation-match"))
		}
	})
	put := func(contents string) {
		t.Helper()
		noError(t, bucket.WriteAll(t.Context(), "a.ldb", []byte(contents), nil))
	}
	src := &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{gcspin.Pin{}}}
	p := make([]byte, 4)
	put("0123456789")
	for _, tt := range []struct {
		off  int64
		want string
		err  error
	}{{20, "", io.EOF}, {2, "2345", nil}, {8, "89", io.EOF}, {10, "", io.EOF}} {
		if n, err := src.ReadAt(t.Context(), "a.ldb", p, tt.off); string(p[:n]) != tt.want || err != tt.err {
			t.Errorf("at %d: %q, %v, want %q, %v", tt.off, p[:n], err, tt.want, tt.err)
		}
	}
	put("ABCDEFGHIJ")
	n, err := src.ReadAt(t.Context(), "a.ldb", p, 2)
	if n != 0 || !errors.Is(err, set.ErrReplaced) || !strings.HasPrefix(err.Error(), `cloud: read 4 bytes at 2 of table "a.ldb": `) {
		t.Errorf("after the object was replaced: %d bytes, %v, want ErrReplaced", n, err)
	}
	if src.Forget("a.ldb"); len(required) != 5 || required[0]+required[1] != "" || len(required[2]) < 10 || required[3] != required[2] || required[4] != required[2] {
		t.Errorf("reads required the generations %q, want none in the first two, and then the second one's", required)
	}
	if n, err := src.ReadAt(t.Context(), "a.ldb", p, 2); err != nil || string(p[:n]) != "CDEF" {
		t.Errorf("after Forget: %q, %v", p[:n], err)
	}
}

// A write that requires a generation does not replace any other.
func TestPinOfWrite(t *testing.T) {
	bucket := openBucket(t, func(*http.Request) {})
	put := func(contents string, o *blob.WriterOptions) error {
		return bucket.WriteAll(t.Context(), "set.jsonl", []byte(contents), o)
	}
	noError(t, put("one", nil))
	r, err := bucket.NewReader(t.Context(), "set.jsonl", nil)
	noError(t, err)
	version := gcspin.Pin{}.Version(r)
	if err := r.Close(); err != nil || version == "" {
		t.Fatalf("version %q, %v", version, err)
	}
	o := &blob.WriterOptions{BeforeWrite: func(as func(any) bool) error {
		gcspin.Pin{}.Require(version, as)
		return nil
	}}
	if err := put("two", o); err != nil {
		t.Errorf("in the place of the version that was read: %v", err)
	}
	if err := put("three", o); gcerrors.Code(err) != gcerrors.FailedPrecondition {
		t.Errorf("in the place of another version: %v, want FailedPrecondition", err)
	}
	if got, err := bucket.ReadAll(t.Context(), "set.jsonl"); err != nil || string(got) != "two" {
		t.Errorf("%q, %v, want the version that was read first to be replaced once", got, err)
	}
}

// If another program writes the same content again after Replace has read the object, Replace still replaces it, though
// its generation has changed.
func TestReplaceSameContent(t *testing.T) {
	var bucket *blob.Bucket
	again := func() {} // called before the next upload
	bucket = openBucket(t, func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/upload/") {
			write := again
			again = func() {}
			write()
		}
	})
	s := &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{gcspin.Pin{}}}
	noError(t, s.Put(t.Context(), "set.jsonl", []byte("one")))
	written := false
	again = func() {
		written = true
		noError(t, bucket.WriteAll(t.Context(), "set.jsonl", []byte("one"), nil))
	}
	if err := s.Replace(t.Context(), "set.jsonl", []byte("one"), []byte("two")); err != nil || !written {
		t.Errorf("%v; written again: %t", err, written)
	}
	if got, err := bucket.ReadAll(t.Context(), "set.jsonl"); err != nil || string(got) != "two" {
		t.Errorf("%q, %v", got, err)
	}
}

// Require ignores a version of another store.
func TestRequireOfAnotherStore(t *testing.T) {
	object := new(storage.ObjectHandle)
	handle := &object
	before := object
	gcspin.Pin{}.Require(`"an ETag"`, func(p any) bool {
		*p.(***storage.ObjectHandle) = handle
		return true
	})
	if object != before {
		t.Error("the handle has changed")
	}
}

// A response whose stream of HTTP/2 is reset is no error if a further one is whole. Google's SDK does not try again.
func TestResetStreams(t *testing.T) {
	const whole = `{"name": "a.ldb", "size": "3", "items": [{"name": "a.ldb", "size": "3"}]}`
	var resets, requests int
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		io.WriteString(w, whole[:20])
		w.(http.Flusher).Flush()
		if requests <= resets {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, whole[20:])
	}))
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	client := &gcp.HTTPClient{Client: http.Client{Transport: &http.Transport{Protocols: protocols}}}
	endpoint := &gcsblob.Options{ClientOptions: []option.ClientOption{option.WithEndpoint(server.URL + "/storage/v1/")}}
	bucket, err := gcsblob.OpenBucket(t.Context(), client, "tables", endpoint)
	noError(t, err)
	t.Cleanup(func() { bucket.Close() })
	s := &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{gcspin.Pin{}}}
	for _, resets = range []int{2, 5} {
		requests = 0
		files, listErr := s.List(t.Context())
		listed := requests
		requests = 0
		file, statErr := s.Stat(t.Context(), "a.ldb")
		switch {
		case resets == 5 && (listErr == nil || statErr == nil || listed != 5 || requests != 5):
			t.Errorf("all streams are reset: %v and %v, after %d and %d requests, want errors after 5", listErr, statErr, listed, requests)
		case resets == 2 && (errors.Join(listErr, statErr) != nil || len(files) != 1 || files[0].Size != 3 || file.Size != 3):
			t.Errorf("two streams are reset: %v, %v and %v, %v", files, listErr, file, statErr)
		}
	}
}

// A refusal is not a missing object, and the request is not repeated. Google's driver reports status 403 as NotFound.
func TestRefusals(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		reads := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				reads++
			}
			w.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
		bucket, err := blob.OpenBucket(t.Context(), "gs://tables")
		noError(t, err)
		t.Cleanup(func() { bucket.Close() })
		s := &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{gcspin.Pin{}}}
		_, readErr := s.ReadAt(t.Context(), "a.ldb", make([]byte, 4), 0)
		_, statErr := s.Stat(t.Context(), "a.ldb")
		reads = 0
		replaceErr := s.Replace(t.Context(), "set.jsonl", nil, []byte("new"))
		if reads != 1 {
			t.Errorf("status %d: Replace has read %d times, want once", status, reads)
		}
		for _, err := range []error{readErr, statErr, replaceErr, s.Remove(t.Context(), "a.ldb")} {
			if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), fmt.Sprint(status)) {
				t.Errorf("status %d: error %v", status, err)
			}
		}
	}
}

// Status returns the status of a response, also in a wrapped error.
func TestStatus(t *testing.T) {
	if got := (gcspin.Pin{}).Status(fmt.Errorf("write: %w", &googleapi.Error{Code: http.StatusConflict})); got != http.StatusConflict {
		t.Errorf("Status = %d", got)
	}
	if got := (gcspin.Pin{}).Status(io.EOF); got != 0 {
		t.Errorf("Status = %d for an error without a response", got)
	}
}
