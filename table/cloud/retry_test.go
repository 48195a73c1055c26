package cloud_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3test"
)

// first returns a fault of the first n requests of a method.
func first(n int, method string, fault s3test.Fault) s3test.Fault {
	left := new(atomic.Int64)
	left.Store(int64(n))
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if r.Method == method && left.Add(-1) >= 0 {
			fault(w, r, server)
		} else {
			server.ServeHTTP(w, r)
		}
	}
}

// half sends half of a body.
var half = edited(func(a *httptest.ResponseRecorder) { a.Body.Truncate(a.Body.Len() / 2) })

// sendHalf sends a response's header and half of its body.
func sendHalf(w http.ResponseWriter, r *http.Request, server http.Handler) {
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, r)
	w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()))
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
	w.(http.Flusher).Flush()
}

// reset sends half of a body and then resets the connection.
func reset(w http.ResponseWriter, r *http.Request, server http.Handler) {
	sendHalf(w, r, server)
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// resetStream sends half of a body and then resets the stream of HTTP/2.
func resetStream(w http.ResponseWriter, r *http.Request, server http.Handler) {
	sendHalf(w, r, server)
	panic(http.ErrAbortHandler)
}

// A cut response is no error if a further one is whole. The SDK does not try again.
func TestCutResponses(t *testing.T) {
	whole := letters(100_000)
	reads := map[string]func(t *testing.T, s *cloud.Store) (string, error){
		"Open": func(t *testing.T, s *cloud.Store) (string, error) {
			r, err := s.Open(t.Context(), "a")
			noError(t, err)
			content, err := io.ReadAll(r)
			return string(content), errors.Join(err, r.Close())
		},
		"ReadAt": func(t *testing.T, s *cloud.Store) (string, error) {
			p := make([]byte, len(whole))
			n, err := s.ReadAt(t.Context(), "a", p, 0)
			return string(p[:n]), err
		},
		"List": func(t *testing.T, s *cloud.Store) (string, error) {
			files, err := s.List(t.Context())
			if len(files) != 1 || files[0].Size != int64(len(whole)) {
				return fmt.Sprint(files), err
			}
			return whole, err
		},
	}
	for name, tt := range map[string]struct {
		fault  s3test.Fault
		bucket func(*s3test.Proxy, testing.TB) *blob.Bucket
	}{
		"half of the body": {half, (*s3test.Proxy).Bucket},
		"a reset":          {reset, (*s3test.Proxy).Bucket},
		"a stream's reset": {resetStream, (*s3test.Proxy).BucketHTTP2},
	} {
		for call, read := range reads {
			t.Run(call+"/"+name, func(t *testing.T) {
				p := s3test.NewProxy(t)
				bucket := tt.bucket(p, t)
				putObject(t, bucket, "a", whole)
				p.Spoil(first(2, http.MethodGet, tt.fault))
				if got, err := read(t, newStore(bucket)); err != nil || got != whole {
					t.Errorf("%d bytes, %v, want %d", len(got), err, len(whole))
				}
				p.Spoil(tt.fault)
				p.Count(http.MethodGet)
				if _, err := read(t, newStore(bucket)); err == nil || p.Count(http.MethodGet) < 5 {
					t.Errorf("if all responses are cut: %v, want an error after five tries", err)
				}
			})
		}
	}
}

// A cut response is not continued with another version of the object, even if the store ignores the Pin's condition.
func TestCutResponseOfAReplacedObject(t *testing.T) {
	for _, ignored := range []bool{true, false} {
		p, bucket := newProxy(t)
		putObject(t, bucket, "a", letters(100_000))
		p.Spoil(first(1, http.MethodGet, half))
		r, err := newStore(bucket).Open(t.Context(), "a")
		noError(t, err)
		putObject(t, bucket, "a", strings.ToUpper(letters(100_000)))
		if !ignored { // unlike by the test's server
			p.Spoil(s3test.Refuse(http.StatusPreconditionFailed, "PreconditionFailed"))
		}
		content, err := io.ReadAll(r)
		noError(t, r.Close())
		checkError(t, err, nil, "replaced while it was read")
		if !strings.HasPrefix(letters(100_000), string(content)) {
			t.Error("it returned bytes of both versions")
		}
	}
}

// A further response that ends before the first one did is cut too.
func TestCutResponseWithAShorterOne(t *testing.T) {
	p, bucket := newProxy(t)
	putObject(t, bucket, "a", letters(1000))
	shorter := edited(func(a *httptest.ResponseRecorder) {
		a.Body.Truncate(100)
		a.Header().Set("Content-Length", "100")
		a.Header().Set("Content-Range", "bytes 0-99/1000")
	})
	p.Spoil(first(1, http.MethodGet, func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		p.Spoil(first(1, http.MethodGet, shorter))
		half(w, r, server)
	}))
	r, err := newStore(bucket).Open(t.Context(), "a")
	noError(t, err)
	content, err := io.ReadAll(r)
	noError(t, errors.Join(err, r.Close()))
	if string(content) != letters(1000) {
		t.Errorf("%d bytes, want 1000", len(content))
	}
}
