package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/set"
)

// putSet puts a set of a table for each of the keys, and returns its manifest.
func putSet(t *testing.T, bucket *blob.Bucket, keys ...string) *set.Manifest {
	t.Helper()
	m := new(set.Manifest)
	for _, key := range keys {
		line, err := cloud.Put(t.Context(), bucket, nil, func(yield func(k, v []byte) bool) { yield([]byte(key), nil) })
		if err != nil {
			t.Fatal(err)
		}
		m.Tables = append(m.Tables, line)
	}
	if err := cloud.WriteManifest(t.Context(), bucket, set.ManifestName, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// ask sends requests, METHOD PATH each, and returns the status of each answer.
func ask(h http.Handler, requests ...string) map[string]int {
	answers := map[string]int{}
	for _, r := range requests {
		method, path, _ := strings.Cut(r, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		answers[r] = w.Code
	}
	return answers
}

// checkAnswers checks the answers to all requests of want.
func checkAnswers(t *testing.T, h http.Handler, want map[string]int) {
	t.Helper()
	var requests []string
	for r := range want {
		requests = append(requests, r)
	}
	if diff := cmp.Diff(want, ask(h, requests...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only a key that is absent is answered by 404.
func TestAnswers(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	putSet(t, bucket, "", "a b\xff", "c")
	s, err := openService(t.Context(), bucket, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
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

// What the bucket lacks is no absent key, when the service starts and later.
func TestLostObjects(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	if _, err := openService(t.Context(), bucket, time.Minute); err == nil {
		t.Error("a bucket without a manifest was served")
	}
	m := putSet(t, bucket, "a", "b")
	lost := m.Tables[1].Name
	contents, err := bucket.ReadAll(t.Context(), lost)
	if err != nil {
		t.Fatal(err)
	}
	lose := func(key string) {
		if err := bucket.Delete(context.Background(), key); err != nil {
			t.Fatal(err)
		}
	}
	lose(lost)
	s, err := openService(t.Context(), bucket, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer s.set.Close()
	checkAnswers(t, s.handler(), map[string]int{"GET /lookup?key=a": 200, "GET /lookup?key=b": 503, "GET /health": 503})
	if err := bucket.WriteAll(t.Context(), lost, contents, nil); err != nil {
		t.Fatal(err)
	}
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
