package cloud_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

var (
	edited        = s3test.Edited
	internalError = s3test.Refuse(http.StatusInternalServerError, "InternalError")
)

func hangUp(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// wholeObject is a server that ignores the Range header.
func wholeObject(w http.ResponseWriter, r *http.Request, server http.Handler) {
	r.Header.Del("Range")
	server.ServeHTTP(w, r)
}

// If a store fails or sends wrong responses, the error names the table and the bytes. Once the store recovers, the
// next read succeeds.
func TestFaultsNameTableAndBytes(t *testing.T) {
	for _, tt := range []struct {
		name     string
		fault    s3test.Fault
		chain    error // wrapped by the error
		text     string
		requests int // 0 if it depends on the connection
	}{
		{"500", internalError, nil, "InternalError", 3}, // the SDK tries it three times
		{"403", s3test.Refuse(http.StatusForbidden, "AccessDenied"), nil, "AccessDenied", 1},
		{"no answer", hangUp, nil, "EOF", 0},
		{"half of the body", edited(func(a *httptest.ResponseRecorder) { a.Body.Truncate(50) }), io.ErrUnexpectedEOF, "the store sent 50 of 100 bytes", 5},
		{"half of the body, and its length", edited(func(a *httptest.ResponseRecorder) {
			a.Body.Truncate(50)
			a.Header().Set("Content-Length", "50")
		}), io.ErrUnexpectedEOF, "the store sent 50 of 100 bytes", 5},
		{"another size", edited(func(a *httptest.ResponseRecorder) { a.Header().Set("Content-Range", "bytes 300-399/999") }), set.ErrReplaced, "999 bytes, version", 1},
		{"another ETag", edited(func(a *httptest.ResponseRecorder) { a.Header().Set("ETag", `"other"`) }), set.ErrReplaced, `version "other"`, 1},
		{"no ETag", edited(func(a *httptest.ResponseRecorder) { a.Header().Del("ETag") }), set.ErrReplaced, "1000 bytes", 1},
		{"all of the object", wholeObject, nil, "the store sent more than 100 bytes", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, bucket := newProxy(t)
			putObject(t, bucket, "a.ldb", letters(1000))
			src := newStore(bucket)
			buf := make([]byte, 100)
			_, err := src.ReadAt(t.Context(), "a.ldb", buf, 0)
			noError(t, err)
			p.Count("GET")
			p.Spoil(tt.fault)
			_, err = src.ReadAt(t.Context(), "a.ldb", buf, 300)
			checkError(t, err, tt.chain, `cloud: read 100 bytes at 300 of table "a.ldb": `, tt.text)
			if got := p.Count("GET"); tt.requests > 0 && got != tt.requests {
				t.Errorf("%d requests, want %d", got, tt.requests)
			}
			p.Spoil(nil)
			if n, err := src.ReadAt(t.Context(), "a.ldb", buf, 300); err != nil || string(buf[:n]) != letters(1000)[300:400] {
				t.Errorf("without the fault: %q, %v", buf[:n], err)
			}
		})
	}
}

// The SDK repeats a request that failed.
func TestOneFaultIsNoError(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault s3test.Fault
	}{{"500", internalError}, {"no answer", hangUp}} {
		t.Run(tt.name, func(t *testing.T) {
			p, bucket := newProxy(t)
			putObject(t, bucket, "a.ldb", letters(1000))
			var failed atomic.Bool
			p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
				if !failed.Swap(true) {
					tt.fault(w, r, server)
					return
				}
				server.ServeHTTP(w, r)
			})
			buf := make([]byte, 100)
			if n, err := newStore(bucket).ReadAt(t.Context(), "a.ldb", buf, 300); err != nil || string(buf[:n]) != letters(1000)[300:400] || p.Count("GET") != 2 {
				t.Errorf("%q, %v, want the bytes, by two requests", buf[:n], err)
			}
		})
	}
}

// Later reads require the ETag from the first one. If a store supports If-Match, like S3, it then never sends
// another object. The test's server does not, so the proxy does.
func TestReadsRequireTheETag(t *testing.T) {
	p, bucket := newProxy(t)
	putObject(t, bucket, "a.ldb", letters(1000))
	var asked []string
	refusing := func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		want := r.Header.Get("If-Match")
		if asked = append(asked, want); want != "" && want != answer.Header().Get("ETag") {
			s3test.Refuse(http.StatusPreconditionFailed, "PreconditionFailed")(w, r, server)
			return
		}
		edited(func(*httptest.ResponseRecorder) {})(w, r, server)
	}
	p.Spoil(refusing)
	src := newStore(bucket)
	buf := make([]byte, 100)
	for range 2 {
		_, err := src.ReadAt(t.Context(), "a.ldb", buf, 300)
		noError(t, err)
	}
	if len(asked) != 2 || asked[0] != "" || len(asked[1]) != 34 {
		t.Errorf("If-Match is %q, want none in the first read, and then the ETag", asked)
	}
	p.Spoil(nil)
	putObject(t, bucket, "a.ldb", letters(2000))
	p.Spoil(refusing)
	_, err := src.ReadAt(t.Context(), "a.ldb", buf, 300)
	checkError(t, err, set.ErrReplaced, `read 100 bytes at 300 of table "a.ldb"`, "PreconditionFailed")
}

// If a store stops sending, the context ends the read, and no goroutine is left.
func TestContextEndsAStalledRead(t *testing.T) {
	for _, tt := range []struct {
		name string
		sent int // bytes of the body before it stops; -1 if not even the header
	}{{"no answer", -1}, {"a header", 0}, {"half of the body", 50}} {
		t.Run(tt.name, func(t *testing.T) {
			p, bucket := newProxy(t)
			putObject(t, bucket, "a.ldb", letters(1000))
			before := runtime.NumGoroutine()
			stopped := make(chan bool)
			p.Spoil(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				sendSome(w, tt.sent)
				close(stopped)
				<-r.Context().Done() // until the client has gone
			})
			cause := errors.New("the caller has gone")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-stopped
				cancel(cause)
			}()
			_, err := newStore(bucket).ReadAt(ctx, "a.ldb", make([]byte, 100), 300)
			checkError(t, err, context.Canceled, `read 100 bytes at 300 of table "a.ldb"`)
			for n := runtime.NumGoroutine(); n > before; n = runtime.NumGoroutine() {
				time.Sleep(time.Millisecond) // forever if one is left
			}
		})
	}
}

// sendSome sends a header that promises 100 bytes, and n bytes of the body.
func sendSome(w http.ResponseWriter, n int) {
	if n < 0 {
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(100))
	w.Header().Set("Content-Range", "bytes 300-399/1000")
	w.WriteHeader(http.StatusPartialContent)
	io.WriteString(w, letters(n))
	w.(http.Flusher).Flush()
}
