package store

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// A store that accepts requests but does not respond blocks no command forever.
func TestStall(t *testing.T) {
	s3test.SetCredentials(t.Setenv)
	defer func(d time.Duration) { Timeout = d }(Timeout)
	Timeout = 50 * time.Millisecond
	p := s3test.NewProxy(t)
	p.Spoil(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() })
	s, err := Open(t.Context(), s3test.BucketURL(t, p.URL))
	noError(t, err)
	defer s.Close()
	_, open := s.Open(t.Context(), "set.jsonl")
	_, list := s.List(t.Context())
	_, stat := s.Stat(t.Context(), "set.jsonl")
	_, table := newObject(newBucketDir("s3://lists", s.Bucket, false), set.File{Name: "a.ldb", Size: 1000}).ReadAt(make([]byte, 10), 0)
	put, remove := s.Put(t.Context(), "set.jsonl", nil), s.Remove(t.Context(), "a.ldb")
	for read, err := range map[string]error{"Open": open, "List": list, "Stat": stat, "ReadAt": table, "Put": put, "Remove": remove} {
		if err == nil || !strings.Contains(err.Error(), "the store did not answer within 50ms: ") {
			t.Errorf("%s: %v, want what the store did not do", read, err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.List(ctx); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "did not answer") {
		t.Errorf("List with a context that is done: %v", err)
	}
}
