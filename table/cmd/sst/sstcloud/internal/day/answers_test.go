package day

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"time"

	"github.com/sievetable/sievetable/table/cloud/s3test"
)

// answer answers a request instead of the server, with the object's current fault.
func (f *faults) answer(w http.ResponseWriter, r *http.Request, server http.Handler) {
	fault, random := f.of(objectOf(r.URL.Path))
	edit, edits := edits[fault.kind]
	switch {
	case fault.kind == "500" || fault.kind == "hangs up":
		refuseOrHangUp(fault.kind, random, w, r, server)
		return
	case fault.kind == "slow":
		time.Sleep(time.Duration(random%20) * time.Millisecond)
	case fault.kind == "stalls":
		select {
		case <-fault.ended:
		case <-r.Context().Done():
			return
		}
	case r.Method == http.MethodPut || r.Method == http.MethodDelete: // the other faults affect only reads
	case fault.kind == "lost":
		s3test.Refuse(http.StatusNotFound, "NoSuchKey")(w, r, server)
		return
	case fault.kind == "half":
		s3test.Edited(func(a *httptest.ResponseRecorder) { a.Body.Truncate(a.Body.Len() / 2) })(w, r, server)
		panic(http.ErrAbortHandler)
	case fault.kind == "other" && objectOf(r.URL.Path) != list:
		r.URL.Path = path.Join(path.Dir(r.URL.Path), f.another())
	case edits && r.Method == http.MethodGet:
		sendEdited(w, r, server, func(body []byte) []byte { return edit(body, random) })
		return
	}
	server.ServeHTTP(w, r)
}

// edits change an object but not its headers.
var edits = map[string]func(object []byte, random int) []byte{
	"cut": func(object []byte, random int) []byte { return object[:random%len(object)] },
	"bit": func(object []byte, random int) []byte {
		object[random%len(object)] ^= 1 << (random % 8)
		return object
	},
}

// refuseOrHangUp fails a request, which the server may have executed nevertheless.
func refuseOrHangUp(kind string, random int, w http.ResponseWriter, r *http.Request, server http.Handler) {
	if random%2 == 0 {
		server.ServeHTTP(httptest.NewRecorder(), r)
	}
	if kind == "hangs up" {
		panic(http.ErrAbortHandler)
	}
	s3test.Refuse(http.StatusInternalServerError, "InternalError")(w, r, server)
}

// sendEdited sends an object changed by edit. Some shortened objects get another ETag. Others keep the object's
// ETag: if all had another one, a table could be opened, and a lookup would notice the end of the fault.
func sendEdited(w http.ResponseWriter, r *http.Request, server http.Handler, edit func([]byte) []byte) {
	whole := r.Clone(r.Context())
	whole.Header.Del("Range")
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, whole)
	body := answer.Body.Bytes()
	if answer.Code != http.StatusOK || len(body) == 0 {
		server.ServeHTTP(w, r)
		return
	}
	size := len(body)
	body = edit(slices.Clone(body))
	w.Header().Set("ETag", answer.Header().Get("ETag"))
	if sum := crc32.ChecksumIEEE(body); len(body) < size && sum%2 == 0 {
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum))
	}
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(body))
}
