package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// manifest returns a manifest of one table.
func manifest(t *testing.T, entries int) *set.Manifest {
	t.Helper()
	_, line := wantTable(t, nil, workload.W3(entries).Keys, "v")
	return &set.Manifest{Tables: []set.Table{line}}
}

// A manifest is read as it was written. Another one takes its place.
func TestManifestIsReadAsWritten(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := s.bucket(t)
			for _, want := range []*set.Manifest{{}, manifest(t, 10), manifest(t, 20)} {
				if err := cloud.WriteManifest(t.Context(), bucket, set.ManifestName, want); err != nil {
					t.Fatal(err)
				}
				got, err := cloud.ReadManifest(t.Context(), bucket, set.ManifestName)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("error %v (-want +got):\n%s", err, diff)
				}
			}
		})
	}
}

// A manifest is sent by one request. One that is wrong is not sent.
func TestWriteManifestRequests(t *testing.T) {
	p := s3test.NewProxy(t)
	bucket := p.Bucket(t)
	m := manifest(t, 10)
	if err := cloud.WriteManifest(t.Context(), bucket, set.ManifestName, m); err != nil {
		t.Fatal(err)
	}
	if puts := p.Count(http.MethodPut); puts != 1 || p.Count(http.MethodPost) != 0 {
		t.Errorf("%d requests to put the manifest, want 1", puts)
	}
	m.Tables[0].Name = "../a.ldb"
	if err := cloud.WriteManifest(t.Context(), bucket, set.ManifestName, m); err == nil || p.Count(http.MethodPut) != 0 {
		t.Errorf("the manifest names a path: error %v, want one, and no request", err)
	}
}

func TestManifestFaults(t *testing.T) {
	p := s3test.NewProxy(t)
	bucket := p.Bucket(t)
	m := manifest(t, 10)
	if _, err := cloud.ReadManifest(t.Context(), bucket, "none.jsonl"); gcerrors.Code(err) != gcerrors.NotFound {
		t.Errorf("%v, want the code NotFound", err)
	}
	if err := cloud.WriteManifest(t.Context(), bucket, "a.jsonl", m); err != nil {
		t.Fatal(err)
	}
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
			_, err := cloud.ReadManifest(t.Context(), bucket, "a.jsonl")
			checkError(t, err, nil, `cloud: read manifest "a.jsonl": `, tt.text)
		})
	}
	p.Spoil(internalError)
	checkError(t, cloud.WriteManifest(t.Context(), bucket, "b.jsonl", m), nil, `cloud: write manifest "b.jsonl", of `, "InternalError")
}
