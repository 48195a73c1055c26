package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/merge"
	"github.com/sievetable/sievetable/table/set"
)

// All kinds of lookups find the entries that were written.
func TestSetFindsWhatWasPut(t *testing.T) {
	urls := workload.W3(20_000)
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := blob.PrefixedBucket(s.bucket(t), "urls/")
			putSet(t, bucket, blockFilters, urls.Keys, 4000, "v1")
			opened := openSet(t, bucket, newStore(bucket), eager)
			checkLookups(t, opened, urls, "v1")
			it := opened.NewIter(t.Context(), nil)
			var scanned [][]byte
			for e := range it.All() {
				scanned = append(scanned, bytes.Clone(e.Key))
			}
			if err := errors.Join(it.Error(), it.Close()); err != nil || !slices.EqualFunc(scanned, urls.Keys, bytes.Equal) {
				t.Errorf("Iter: %d keys, %v, want the %d of the set", len(scanned), err, len(urls.Keys))
			}
			noError(t, opened.Verify(t.Context(), nil))
		})
	}
}

// checkLookups gets some keys one by one, and all keys at once.
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

// If an object is not the manifest's table, the error names the table.
func TestOpenOfAnotherObject(t *testing.T) {
	bucket := s3test.NewProxy(t).Bucket(t)
	m := putSet(t, bucket, blockFilters, workload.W3(1000).Keys, 1000, "v")
	name := m.Tables[0].Name
	contents := []byte(object(t, bucket, name))
	other, _ := wantTable(t, blockFilters, workload.W3(2000).Keys, "v")
	for what, contents := range map[string][]byte{
		"cut short": contents[:len(contents)-1], "empty": nil, "longer": append(bytes.Clone(contents), 0), "another table": other,
	} {
		t.Run(what, func(t *testing.T) {
			putObject(t, bucket, name, string(contents))
			_, err := set.Open(t.Context(), m, newStore(bucket), eager)
			checkError(t, err, set.ErrMismatch, name)
		})
	}
	noError(t, bucket.Delete(t.Context(), name))
	_, err := set.Open(t.Context(), m, newStore(bucket), eager)
	checkError(t, err, nil, name, "cloud: read ")
}

// If a store fails, lookup errors name the table and the bytes. Lookups succeed once it recovers. If the store
// stalls, a context or ReadTimeout ends them.
func TestLookupFaults(t *testing.T) {
	p, bucket := newProxy(t)
	urls := workload.W3(1000)
	m := putSet(t, bucket, blockFilters, urls.Keys, 1000, "v")
	s := openSet(t, bucket, newStore(bucket), eager)
	limited := openSet(t, bucket, newStore(bucket), &set.Options{ReadTimeout: 10 * time.Millisecond})
	p.Spoil(internalError)
	_, err := s.Get(t.Context(), urls.Keys[0])
	checkError(t, err, nil, m.Tables[0].Name, "cloud: read ", " bytes at 0 of table ")
	ctx, cancel := context.WithCancel(t.Context())
	p.Spoil(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		cancel()
		<-r.Context().Done() // until the client has gone
	})
	_, err = s.Get(ctx, urls.Keys[0])
	checkError(t, err, context.Canceled)
	p.Spoil(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() })
	for p.Count("GET"); p.Count("GET") == 0; { // until a request was sent in time
		_, err = limited.Get(t.Context(), urls.Keys[0])
		checkError(t, err, context.DeadlineExceeded, m.Tables[0].Name, "cloud: read ", "within ReadTimeout, 10ms")
	}
	p.Spoil(nil)
	if got, err := s.Get(t.Context(), urls.Keys[0]); err != nil || string(got) != "v" {
		t.Errorf("without the faults: %q, %v", got, err)
	}
	replaceObject(t, bucket, m.Tables[0].Name, letters(int(m.Tables[0].Size)))
	_, err = s.Get(t.Context(), urls.Keys[0])
	checkError(t, err, set.ErrReplaced, m.Tables[0].Name)
	found := func(int, []byte) error { return nil }
	checkError(t, s.GetMany(t.Context(), urls.Keys, nil, found), table.ErrCorrupt, m.Tables[0].Name) // it is no table
}

// If a table's object is missing, an Iter with OnLoss continues, and a lookup in a layer finds the older value.
func TestMissingObjectIsALoss(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := s.bucket(t)
			urls := workload.W3(200)
			m := putSet(t, bucket, blockFilters, urls.Keys, 100, "old")
			layer := putTables(t, bucket, nil, urls.Keys[:1], 1, "new")
			m.Layers = []set.Layer{{Tables: layer.Tables}}
			putManifest(t, bucket, set.ManifestName, m)
			for _, gone := range []string{m.Tables[1].Name, layer.Tables[0].Name} {
				noError(t, bucket.Delete(t.Context(), gone))
			}
			src := openSet(t, bucket, newStore(bucket), nil)
			_, err := src.Get(t.Context(), urls.Keys[0])
			if h := (*merge.HiddenError)(nil); !errors.As(err, &h) || string(h.Value) != "old" {
				t.Errorf("Get = %v, want a HiddenError with the older value", err)
			}
			losses, n := 0, 0
			it := src.NewIter(t.Context(), &table.IterOptions{OnLoss: func(table.Loss) bool { losses++; return true }})
			for it.Next() {
				n++
			}
			if err := it.Close(); err != nil || n != 100 || losses != 2 {
				t.Errorf("%d entries, %d losses, %v, want 100 and 2", n, losses, err)
			}
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
