package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// A put reports whether its manifest is stored, even if the response to its request was lost, or if another put was
// faster and the store ignores conditions or reports them with another error.
func TestPutCondition(t *testing.T) {
	bucket, sets := openWorlds(t)
	isWrite := func(r *http.Request) bool {
		return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, set.ManifestName)
	}
	for i, tt := range []struct {
		name   string
		fault  func(w *world) s3test.Fault
		status int
		listed string
	}{
		{"the answer is lost", func(*world) s3test.Fault {
			lost := false
			return func(rw http.ResponseWriter, r *http.Request, server http.Handler) {
				if lost || !isWrite(r) {
					server.ServeHTTP(rw, r)
					return
				}
				lost = true
				server.ServeHTTP(httptest.NewRecorder(), r)
				s3test.Refuse(http.StatusInternalServerError, "InternalError")(rw, r, server)
			}
		}, cli.ExitOK, "ac"},
		{"409", func(w *world) s3test.Fault {
			return func(rw http.ResponseWriter, r *http.Request, server http.Handler) {
				if !isWrite(r) {
					server.ServeHTTP(rw, r)
					return
				}
				w.put("bd").run()
				s3test.Refuse(http.StatusConflict, "ConditionalRequestConflict")(rw, r, server)
			}
		}, cli.ExitUsage, "bd"},
		{"the store ignores conditions", func(w *world) s3test.Fault {
			done := false
			return func(rw http.ResponseWriter, r *http.Request, server http.Handler) {
				if r.Method == http.MethodPut && !isWrite(r) && !done {
					done = true
					w.put("bd").run()
				}
				r.Header.Del("If-Match")
				r.Header.Del("If-None-Match")
				server.ServeHTTP(rw, r)
			}
		}, cli.ExitUsage, "bd"},
	} {
		w := newWorld(t, bucket, i, sets)
		w.sweep().run() // so that c must be uploaded
		p := w.put("ac")
		p.fault = tt.fault(w)
		if p.run(); p.status != tt.status || w.listed(set.ManifestName) != tt.listed {
			t.Errorf("%s: the manifest lists %q, want %q; want exit status %d: %v", tt.name, w.listed(set.ManifestName), tt.listed, tt.status, p)
		}
	}
}
