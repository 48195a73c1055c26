package cloud_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// applied forwards a request and then loses the response.
var applied = edited(func(a *httptest.ResponseRecorder) {
	a.Code = http.StatusInternalServerError
	a.Body.Reset()
	a.Header().Del("Content-Length")
})

// If the response to a write is lost, the SDK's second try is refused, and the content tells why. Reading it is tried
// again. If that keeps failing, the error says that the object may have been written.
func TestReplaceLosesResponses(t *testing.T) {
	for _, failed := range []int{0, 4, 1000} {
		p, bucket := newProxy(t)
		putObject(t, bucket, "a", "old")
		puts, gets := first(1, http.MethodPut, applied), first(failed, http.MethodGet, internalError)
		var written atomic.Bool
		p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
			if written.Load() {
				gets(w, r, server)
				return
			}
			written.Store(r.Method == http.MethodPut)
			puts(w, r, server)
		})
		err := newStore(bucket).Replace(t.Context(), "a", []byte("old"), []byte("new"))
		if failed < 1000 {
			noError(t, err)
		} else {
			checkError(t, err, nil, "it may or may not have been written", "412", "500")
		}
		p.Spoil(nil)
		if got := object(t, bucket, "a"); got != "new" {
			t.Errorf("the object is %q", got)
		}
	}
}

// If a write and the read after it are refused, neither is tried again.
func TestReplaceIsRefused(t *testing.T) {
	for status, code := range map[int]string{
		http.StatusForbidden: "AccessDenied", http.StatusUnauthorized: "Unauthorized", http.StatusBadRequest: "ExpiredToken",
	} {
		p, bucket := newProxy(t)
		p.Spoil(s3test.Refuse(status, code))
		checkError(t, newStore(bucket).Replace(t.Context(), "a", nil, []byte("new")), nil, code)
		if puts, gets := p.Count(http.MethodPut), p.Count(http.MethodGet); puts != 1 || gets != 1 {
			t.Errorf("%d: %d writes and %d reads, want one of each", status, puts, gets)
		}
	}
}

// S3 may refuse a conditional write because of a concurrent one, and asks for another try.
func TestReplaceConflicts(t *testing.T) {
	conflict := s3test.Refuse(http.StatusConflict, "ConditionalRequestConflict")
	for _, old := range [][]byte{nil, []byte("old")} {
		p, bucket := newProxy(t)
		s := newStore(bucket)
		if old != nil {
			putObject(t, bucket, "a", string(old))
		}
		p.Spoil(first(1000, http.MethodPut, conflict))
		checkError(t, s.Replace(t.Context(), "a", old, []byte("new")), nil, "ConditionalRequestConflict")
		p.Spoil(first(2, http.MethodPut, conflict))
		noError(t, s.Replace(t.Context(), "a", old, []byte("new")))
		p.Spoil(first(1, http.MethodPut, func(w http.ResponseWriter, r *http.Request, server http.Handler) {
			putObject(t, s3test.Open(t, s3test.Server()), "a", "another")
			conflict(w, r, server)
		}))
		checkError(t, s.Replace(t.Context(), "a", []byte("new"), []byte("newer")), set.ErrChanged)
	}
}

// A cancelingPin cancels a context after a conflict.
type cancelingPin struct {
	cloud.Pin
	cancel func()
}

func (p cancelingPin) Status(err error) int {
	status := p.Pin.Status(err)
	if status == http.StatusConflict {
		p.cancel()
	}
	return status
}

// If the context ends before the next try, the error says so.
func TestReplaceIsCanceled(t *testing.T) {
	p, bucket := newProxy(t)
	ctx, cancel := context.WithCancel(t.Context())
	s := &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{cancelingPin{s3pin.Pin{}, cancel}}}
	p.Spoil(first(1000, http.MethodPut, s3test.Refuse(http.StatusConflict, "ConditionalRequestConflict")))
	checkError(t, s.Replace(ctx, "a", nil, []byte("new")), context.Canceled, "ConditionalRequestConflict")
}
