package cloud_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// A manifest is sent in one request, between reading the old one and listing the tables. An invalid one is not sent.
func TestPublishManifestRequests(t *testing.T) {
	p, bucket := newProxy(t)
	m := putTables(t, bucket, nil, workload.W3(10).Keys, 10, "v")
	p.Count(http.MethodPut)
	p.Count(http.MethodGet)
	noError(t, set.PublishManifest(t.Context(), newStore(bucket), set.ManifestName, m, nil))
	if puts, gets := p.Count(http.MethodPut), p.Count(http.MethodGet); puts != 1 || gets != 2 || p.Count(http.MethodPost) != 0 {
		t.Errorf("%d requests to put the manifest, %d to get, want 1 and 2", puts, gets)
	}
	m.Tables[0].Name = "../a.ldb"
	if err := set.PublishManifest(t.Context(), newStore(bucket), set.ManifestName, m, nil); err == nil || p.Count(http.MethodPut) != 0 {
		t.Errorf("the manifest names a path: error %v, want one, and no request", err)
	}
}

func TestManifestFaults(t *testing.T) {
	p, bucket := newProxy(t)
	_, line := wantTable(t, nil, workload.W3(10).Keys, "v")
	m := &set.Manifest{Tables: []set.Table{line}}
	if _, err := set.LoadManifest(t.Context(), newStore(bucket), "none.jsonl"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want fs.ErrNotExist", err)
	}
	putManifest(t, bucket, "a.jsonl", m)
	for _, tt := range []struct {
		name  string
		fault s3test.Fault
		text  string
	}{
		{"500", internalError, "InternalError"},
		{"half of the body", edited(func(a *httptest.ResponseRecorder) { a.Body.Truncate(a.Body.Len() / 2) }), "unexpected EOF"},
		{"an empty body", edited(func(a *httptest.ResponseRecorder) {
			a.Body.Reset()
			a.Header().Set("Content-Length", "0")
		}), "the file is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.Spoil(tt.fault)
			_, err := set.LoadManifest(t.Context(), newStore(bucket), "a.jsonl")
			checkError(t, err, nil, `set: manifest store/a.jsonl: `, tt.text)
		})
	}
	p.Spoil(internalError)
	checkError(t, set.PublishManifest(t.Context(), newStore(bucket), "b.jsonl", m, nil), nil, `set: manifest store/b.jsonl: `, "InternalError")
}

// A large object, such as a table that is copied, is never in memory as a whole.
func TestOpenTakesNoMemory(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	const size = 32 << 20
	putObject(t, bucket, "a", string(make([]byte, size)))
	s := newStore(bucket)
	taken := filtertest.AllocatedBy(func() {
		r, err := s.Open(t.Context(), "a")
		noError(t, err)
		n, err := io.Copy(io.Discard, r)
		if err = errors.Join(err, r.Close()); err != nil || n != size {
			t.Errorf("%d bytes, %v, want %d", n, err, size)
		}
	})
	if taken > size/8 {
		t.Errorf("reading an object of %d bytes takes %d", size, taken)
	}
}

// If a store stops in the middle of an object, the timeout or the context ends the read.
func TestTimeoutOfOpenedObjects(t *testing.T) {
	p, bucket := newProxy(t)
	p.Spoil(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte(`{"format":`))
		w.(http.Flusher).Flush()
		<-r.Context().Done() // until the client has gone
	})
	s := newStore(bucket)
	s.Timeout = 50 * time.Millisecond
	_, err := set.LoadManifest(t.Context(), s, "a.jsonl")
	checkError(t, err, context.DeadlineExceeded, "set: manifest store/a.jsonl: the store did not answer within 50ms: ")
	ctx, cancel := context.WithCancel(t.Context())
	s.Timeout = 0
	r, err := s.Open(ctx, "a.jsonl")
	noError(t, err)
	cancel()
	_, err = io.ReadAll(r)
	checkError(t, err, context.Canceled)
	noError(t, r.Close())
}
