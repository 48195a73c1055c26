package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// A Google Cloud Storage bucket is opened by URL, and its objects are written, listed and read.
func TestGCS(t *testing.T) {
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", PublicHost: "127.0.0.1"})
	noError(t, err)
	defer server.Stop()
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "tables"})
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL(), "http://"))
	s, err := Open(t.Context(), "gs://tables?prefix=urls/")
	noError(t, err)
	defer s.Close()
	for _, key := range []string{"a.ldb", "b.ldb", "below/c.ldb"} {
		noError(t, s.Put(t.Context(), key, []byte("a table")))
	}
	objects, err := s.List(t.Context())
	if err != nil || len(objects) != 2 || objects[0].Name != "a.ldb" || objects[0].Size != 7 || objects[1].Modified.IsZero() {
		t.Errorf("%v, %v, want a.ldb and b.ldb", objects, err)
	}
	p := make([]byte, 5)
	if _, err := s.Bucket.ReadAt(t.Context(), "a.ldb", p, 2); err != nil || !slices.Equal(p, []byte("table")) {
		t.Errorf("%q, %v", p, err)
	}
	if s.Path("set.jsonl") != "gs://tables/urls/set.jsonl" || s.Dir != "" {
		t.Error(s.Path("set.jsonl"), s.Dir)
	}
}
