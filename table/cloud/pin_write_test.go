package cloud_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/cloud/s3test"
)

// writerOf returns the current version of the object a, and a function that replaces only that version.
func writerOf(t *testing.T, bucket *blob.Bucket) (version string, write func(contents []byte) error) {
	t.Helper()
	r, err := bucket.NewReader(t.Context(), "a", nil)
	noError(t, err)
	version = s3pin.Pin{}.Version(r)
	if err := r.Close(); err != nil || version == "" {
		t.Fatalf("version %q, %v", version, err)
	}
	return version, func(contents []byte) error {
		return bucket.WriteAll(t.Context(), "a", contents, &blob.WriterOptions{BeforeWrite: func(as func(any) bool) error {
			s3pin.Pin{}.Require(version, as)
			return nil
		}})
	}
}

// A write that requires a version does not replace any other.
func TestPinOfWrite(t *testing.T) {
	bucket := s3test.Open(t, s3test.Server())
	putObject(t, bucket, "a", "one")
	_, write := writerOf(t, bucket)
	if err := write([]byte("two")); err != nil {
		t.Errorf("in the place of the version that was read: %v", err)
	}
	if err := write([]byte("three")); gcerrors.Code(err) != gcerrors.FailedPrecondition {
		t.Errorf("in the place of another version: %v, want FailedPrecondition", err)
	}
	if got := object(t, bucket, "a"); got != "two" {
		t.Errorf("%q was written in the place of another version", got)
	}
}

// A large object is sent in parts, and the last request requires the version. The server of the tests ignores
// that.
func TestPinOfLargeWrite(t *testing.T) {
	p, bucket := newProxy(t)
	putObject(t, bucket, "a", "one")
	version, write := writerOf(t, bucket)
	var required []string
	p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if r.Method == http.MethodPost && strings.Contains(r.URL.RawQuery, "uploadId=") {
			required = append(required, r.Header.Get("If-Match"))
		}
		server.ServeHTTP(w, r)
	})
	noError(t, write(bytes.Repeat([]byte("2"), 17<<20)))
	checkDiff(t, "versions that requests require", []string{version}, required)
}
