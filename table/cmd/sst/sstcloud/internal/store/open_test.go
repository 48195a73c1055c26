package store

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/sievetable/sievetable/table/cloud/s3test"
)

func TestMain(m *testing.M) {
	s3test.ServeIfAsked()
	os.Exit(m.Run())
}

// A Store counts exactly the requests that the server receives, from the S3 client and from Google's.
func TestRequests(t *testing.T) {
	s3test.SetCredentials(t.Setenv)
	p := s3test.NewProxy(t)
	s, err := Open(t.Context(), s3test.BucketURL(t, p.URL)+"&ssetype=AES256")
	noError(t, err)
	defer s.Close()
	encrypted := ""
	p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		encrypted += r.Header.Get("X-Amz-Server-Side-Encryption")
		server.ServeHTTP(w, r)
	})
	if err := s.Put(t.Context(), "a", make([]byte, 20<<20)); err != nil { // a multipart upload
		t.Fatal(err)
	}
	if _, err := s.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, ok := s.Requests()
	if want := int64(p.Count("PUT") + p.Count("POST") + p.Count("GET") + p.Count("HEAD")); got != want || !ok || want < 5 {
		t.Errorf("%d requests, %v, want %d", got, ok, want)
	}
	if encrypted != "AES256" {
		t.Errorf("the encryption is %q, want that of the URL", encrypted)
	}
}

// The transport for Google Cloud Storage counts requests too.
func TestCountingTransport(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var s Store
	transport := newTransport(&s)
	for range 3 {
		answer, err := (&http.Client{Transport: transport}).Get(server.URL)
		noError(t, err)
		answer.Body.Close()
	}
	if n, ok := s.Requests(); n != 3 || !ok {
		t.Errorf("%d requests, %v, want 3", n, ok)
	}
}
