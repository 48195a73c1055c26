package cloud_test

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// checkLookups gets some keys one by one, and all keys at once, and iterates over them.
func checkLookups(t *testing.T, s *set.Set, urls workload.Set, value string) {
	t.Helper()
	for i := 0; i < len(urls.Keys); i += 499 {
		if got, err := s.Get(t.Context(), urls.Keys[i]); err != nil || string(got) != value {
			t.Errorf("Get of key %d: %q, %v, want %q", i, got, err, value)
		}
		if _, err := s.Get(t.Context(), urls.Absent[i]); err != table.ErrNotFound {
			t.Errorf("Get of absent key %d: %v, want ErrNotFound", i, err)
		}
	}
	found := 0
	err := s.GetMany(t.Context(), slices.Concat(urls.Absent, urls.Keys), &table.GetManyOptions{Gap: 64 << 10}, func(i int, got []byte) error {
		if found++; i < len(urls.Absent) || string(got) != value {
			t.Errorf("GetMany: value %q of key %d, where the first %d are absent, want %q", got, i, len(urls.Absent), value)
		}
		return nil
	})
	if err != nil || found != len(urls.Keys) {
		t.Errorf("GetMany: %d values, %v, want %d", found, err, len(urls.Keys))
	}
	it := s.NewIter(t.Context(), nil)
	var scanned [][]byte
	for e := range it.All() {
		scanned = append(scanned, bytes.Clone(e.Key))
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil || !slices.EqualFunc(scanned, urls.Keys, bytes.Equal) {
		t.Errorf("Iter: %d keys, %v, want the %d of the set", len(scanned), err, len(urls.Keys))
	}
}

// Each table opened costs one request, and so does each present key that is not cached.
func TestRequestsOfPresentKeys(t *testing.T) {
	p, bucket := newProxy(t)
	urls := workload.W3(20_000)
	// No table contains the keys before, between and after the two ranges.
	m := putTables(t, bucket, blockFilters, urls.Keys[1000:9000], 4000, "v")
	m.Tables = append(m.Tables, putTables(t, bucket, blockFilters, urls.Keys[10_000:18_000], 4000, "v").Tables...)
	cache := table.NewCache(16 << 20)
	for _, tt := range []struct {
		name     string
		cache    *table.Cache
		keys     [][]byte
		requests int
	}{
		{"present", nil, urls.Keys[4500:5500], 1000},
		{"outside of all ranges", nil, slices.Concat(urls.Keys[:1000], urls.Keys[9000:10_000], urls.Keys[18_000:]), 0},
		{"a first time with a cache", cache, spread(urls.Keys[10_000:18_000], 40), 40},
		{"cached", cache, spread(urls.Keys[10_000:18_000], 40), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.Count(http.MethodHead) // from putTables
			s, err := set.Open(t.Context(), m, newStore(bucket), &set.Options{OpenAll: true, Reader: table.ReaderOptions{Cache: tt.cache}})
			noError(t, err)
			if got := p.Count(http.MethodGet); got != len(m.Tables) {
				t.Errorf("%d requests to open the set, want %d", got, len(m.Tables))
			}
			for _, key := range tt.keys {
				s.Get(t.Context(), key)
			}
			if got := p.Count(http.MethodGet); got != tt.requests {
				t.Errorf("%d requests for %d keys, want %d", got, len(tt.keys), tt.requests)
			}
			if others := p.Count(http.MethodHead); others != 0 {
				t.Errorf("%d requests of the method HEAD, want none", others)
			}
			s.Close()
		})
	}
}

// spread returns n of the keys, far from each other, so that each is in another block.
func spread(keys [][]byte, n int) [][]byte {
	var found [][]byte
	for i := range n {
		found = append(found, keys[i*len(keys)/n])
	}
	return found
}

// Absent keys take few requests: only those for which a filter returns a false positive.
func TestRequestsOfAbsentKeys(t *testing.T) {
	urls := workload.W3(100_000)
	for _, tt := range []struct {
		name string
		o    *table.WriterOptions
		most float64
	}{{"block filters", blockFilters, 0.015}, {"both filters", bothFilters, 0.0002}} {
		t.Run(tt.name, func(t *testing.T) {
			bucket := memblob.OpenBucket(nil)
			defer bucket.Close()
			putSet(t, bucket, tt.o, urls.Keys, 20_000, "")
			src := &counter{Source: newStore(bucket)}
			s := openSet(t, bucket, src, eager)
			src.reads.Store(0)
			for _, key := range urls.Absent {
				if _, err := s.Get(t.Context(), key); err != table.ErrNotFound {
					t.Fatal(err)
				}
			}
			got := float64(src.reads.Load()) / float64(len(urls.Absent))
			t.Logf("%.5f requests for an absent key", got)
			if got > tt.most || got == 0 {
				t.Errorf("%g requests for an absent key, want > 0 and ≤ %g", got, tt.most)
			}
		})
	}
}

// A Set continues while its manifest and objects are replaced. After Drain, objects that no manifest lists can be
// deleted.
func TestSwapWhileObjectsAreReplaced(t *testing.T) {
	urls := workload.W3(20_000)
	for _, st := range stores {
		t.Run(st.name, func(t *testing.T) {
			bucket := st.bucket(t)
			first := putSet(t, bucket, blockFilters, urls.Keys, 5000, "v1")
			src := newStore(bucket)
			s := openSet(t, bucket, src, eager)
			second := putSet(t, bucket, blockFilters, urls.Keys[:5000], 5000, "v2")
			second.Tables = append(second.Tables, first.Tables[1:]...)
			noError(t, errors.Join(s.Swap(t.Context(), second), s.Drain(t.Context())))
			noError(t, bucket.Delete(t.Context(), first.Tables[0].Name))
			for i, want := range map[int]string{0: "v2", 4999: "v2", 5000: "v1", 19_999: "v1"} {
				if got, err := s.Get(t.Context(), urls.Keys[i]); err != nil || string(got) != want {
					t.Errorf("Get of key %d: %q, %v, want %q", i, got, err, want)
				}
			}
			noError(t, s.Verify(t.Context(), nil))
		})
	}
}

// A bucket on an S3 server is opened by its URL, with credentials from the environment.
func TestBucketByURL(t *testing.T) {
	s3test.SetCredentials(t.Setenv)
	bucket, err := blob.OpenBucket(t.Context(), s3test.BucketURL(t, s3test.NewProxy(t).URL))
	noError(t, err)
	defer bucket.Close()
	urls := workload.W3(1000)
	putSet(t, bucket, blockFilters, urls.Keys, 500, "v")
	checkLookups(t, openSet(t, bucket, newStore(bucket), eager), urls, "v")
}
