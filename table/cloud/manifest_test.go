package cloud_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// A manifest is read as it was written. Another one takes its place.
func TestManifestIsReadAsWritten(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := s.bucket(t)
			for _, n := range []int{10, 20} {
				want := putTables(t, bucket, nil, workload.W3(n).Keys, n, "v")
				noError(t, set.PublishManifest(t.Context(), newStore(bucket), set.ManifestName, want, nil))
				got, err := set.LoadManifest(t.Context(), newStore(bucket), set.ManifestName)
				noError(t, err)
				checkDiff(t, "LoadManifest", want, got)
			}
		})
	}
}

// A manifest is sent by one request, between a read of the old one and a list of the tables. One that is
// wrong is not sent.
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

// A Store keeps no contents of what it has opened, such as tables that were copied.
func TestOpenedObjectsTakeNoMemory(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	const objects, size = 8, 4 << 20
	for i := range objects {
		putObject(t, bucket, fmt.Sprint(i), string(make([]byte, size)))
	}
	s, before := newStore(bucket), filtertest.HeapInUse()
	for i := range objects {
		if _, err := s.Open(t.Context(), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if taken := filtertest.HeapInUse() - before; taken > size {
		t.Errorf("the Store keeps %d bytes of %d objects of %d bytes", taken, objects, size)
	}
	runtime.KeepAlive(s)
}
