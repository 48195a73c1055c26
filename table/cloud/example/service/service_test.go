package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/set"
)

var noError = errtest.NoError

// putSet writes a set with one table for each key, and returns its manifest.
func putSet(t *testing.T, bucket *blob.Bucket, keys ...string) *set.Manifest {
	t.Helper()
	return putSetOf(t, bucket, nil, keys...)
}

// putSetOf is putSet with table options.
func putSetOf(t *testing.T, bucket *blob.Bucket, o *table.WriterOptions, keys ...string) *set.Manifest {
	t.Helper()
	store, m := &cloud.Store{Bucket: bucket}, new(set.Manifest)
	for _, key := range keys {
		var b bytes.Buffer
		w, err := set.NewTableWriter(&b, o)
		noError(t, err)
		noError(t, w.Append([]byte(key), nil))
		line, err := w.Close()
		noError(t, err)
		line.Name = line.SHA256 + ".ldb"
		if o != nil && o.FilterOnly {
			line.Name = line.SHA256 + ".filter"
		}
		noError(t, set.PutTable(t.Context(), store, line, &b))
		m.Tables = append(m.Tables, line)
	}
	noError(t, set.PublishManifest(t.Context(), store, set.ManifestName, m, nil))
	return m
}

// checkAnswers sends requests, each METHOD PATH, and checks the status of each response.
func checkAnswers(t *testing.T, h http.Handler, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for request := range want {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		got[request] = w.Code
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only an absent key gets 404.
func TestAnswers(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	putSet(t, bucket, "", "a b\xff", "c")
	s, err := openService(t.Context(), bucket, time.Hour)
	noError(t, err)
	defer s.set.Close()
	checkAnswers(t, s.handler(), map[string]int{
		"GET /lookup?key=":          200,
		"GET /lookup?key=a+b%ff":    200,
		"GET /lookup?key=a%20b%FF":  200,
		"GET /lookup?key=a+b":       404,
		"GET /lookup":               400,
		"GET /lookup?key=%zz":       400,
		"GET /lookup?key=x;y":       400,
		"GET /lookup?key=c&key=d":   400,
		"GET /lookup/c":             400,
		"GET /look?key=c":           400,
		"POST /lookup?key=x":        400,
		"GET /reload":               400,
		"GET /health":               200,
		"POST /reload":              200,
		"GET /lookup?key=a+b%ff%00": 404,
	})
}

// For a set of filters, a key that the filters do not rule out gets 200. If no policy can read the filters, the set
// is not served.
func TestFilterOnly(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy filter.TablePolicy
		fails  bool
	}{
		{"table-bloom", filter.NewTableBloom(20), false},
		{"fuse", fuse.Policy{}, false},
		{"paged", paged.Policy{}, false},
		{"unknown", unknownPolicy{filter.NewTableBloom(20)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bucket := memblob.OpenBucket(nil)
			defer bucket.Close()
			putSetOf(t, bucket, &table.WriterOptions{FilterOnly: true, TableFilterPolicy: tt.policy}, "a", "c")
			s, err := openService(t.Context(), bucket, time.Minute)
			if tt.fails {
				if !errors.Is(err, table.ErrUnknownFilter) {
					t.Errorf("error %v, want ErrUnknownFilter", err)
				}
				return
			}
			noError(t, err)
			defer s.set.Close()
			checkAnswers(t, s.handler(), map[string]int{
				"GET /lookup?key=a": 200, "GET /lookup?key=b": 404, "GET /lookup?key=c": 200, "GET /lookup?key=d": 404, "GET /health": 200,
			})
			putSetOf(t, bucket, &table.WriterOptions{FilterOnly: true, TableFilterPolicy: unknownPolicy{filter.NewTableBloom(20)}}, "d")
			checkAnswers(t, s.handler(), map[string]int{"POST /reload": 503})
			checkAnswers(t, s.handler(), map[string]int{"GET /lookup?key=a": 200, "GET /lookup?key=d": 404})
			putSet(t, bucket, "d") // with keys
			checkAnswers(t, s.handler(), map[string]int{"POST /reload": 200})
			checkAnswers(t, s.handler(), map[string]int{"GET /lookup?key=a": 404, "GET /lookup?key=d": 200})
		})
	}
}

// unknownPolicy is a policy that the service does not have.
type unknownPolicy struct{ filter.TableBloom }

func (unknownPolicy) Name() string { return "unknown" }

// Keys of missing objects do not count as absent, when the service starts or later.
func TestLostObjects(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	if _, err := openService(t.Context(), bucket, time.Hour); err == nil {
		t.Error("a bucket without a manifest was served")
	}
	m := putSet(t, bucket, "a", "b")
	lost := m.Tables[1].Name
	contents, err := bucket.ReadAll(t.Context(), lost)
	noError(t, err)
	lose := func(key string) {
		noError(t, bucket.Delete(context.Background(), key))
	}
	lose(lost)
	s, err := openService(t.Context(), bucket, time.Hour)
	noError(t, err)
	defer s.set.Close()
	checkAnswers(t, s.handler(), map[string]int{"GET /lookup?key=a": 200, "GET /lookup?key=b": 503, "GET /health": 503})
	noError(t, bucket.WriteAll(t.Context(), lost, contents, nil))
	checkAnswers(t, s.handler(), map[string]int{"GET /health": 200})
	checkAnswers(t, s.handler(), map[string]int{"GET /lookup?key=b": 200})

	next := putSet(t, bucket, "c", "d")
	lose(next.Tables[0].Name)
	checkAnswers(t, s.handler(), map[string]int{"POST /reload": 503})
	checkAnswers(t, s.handler(), map[string]int{"GET /lookup?key=b": 200, "GET /lookup?key=d": 404})
	putSet(t, bucket, "c", "d")
	checkAnswers(t, s.handler(), map[string]int{"POST /reload": 200})
	checkAnswers(t, s.handler(), map[string]int{"GET /lookup?key=b": 404, "GET /lookup?key=d": 200})
	lose(set.ManifestName)
	checkAnswers(t, s.handler(), map[string]int{"POST /reload": 503, "GET /lookup?key=d": 200})
}
