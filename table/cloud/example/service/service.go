package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/codecs"
	"github.com/sievetable/sievetable/table/set"
)

// A service looks up keys of the set in a bucket.
type service struct {
	store   *cloud.Store
	set     *set.Set
	timeout time.Duration // for each lookup

	reloading sync.Mutex
}

// openService opens the bucket's set, with the filter policies and codecs for whatever sst build writes. If some
// tables cannot be opened now, only lookups in these tables fail.
func openService(ctx context.Context, bucket *blob.Bucket, timeout time.Duration) (*service, error) {
	store := &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{s3pin.Pin{}}, Timeout: timeout}
	s := &service{store: store, timeout: timeout}
	m, err := set.LoadManifest(ctx, store, set.ManifestName)
	if err != nil {
		return nil, err
	}
	s.set, err = set.Open(ctx, m, store, &set.Options{
		Reader: table.ReaderOptions{
			Cache:               table.NewCache(64 << 20),
			TableFilterPolicies: []filter.TablePolicy{fuse.Policy{}, paged.Policy{}},
			Codecs:              codecs.All(),
		},
		OpenAll:     true, // so that reload reports a table that cannot be opened
		OnLoss:      s.goesOnWithout,
		ReadTimeout: timeout,
	})
	return s, err
}

// goesOnWithout reports whether to continue without a table: yes at the start, but not in a reload, since the old
// tables are all available.
func (s *service) goesOnWithout(l table.Loss) bool {
	starts := s.set == nil
	if starts {
		log.Printf("table %s is unavailable: %v", l.File, l.Err)
	}
	return starts
}

// handler returns the service's HTTP handler.
func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lookup", s.lookUp)
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("POST /reload", s.reload)
	// A wrong path must not return 404, which means that a key is absent.
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "unknown request: use GET /lookup?key=KEY, GET /health or POST /reload", http.StatusBadRequest)
	})
	return mux
}

// lookUp reports whether the set contains a key, which is escaped as by url.QueryEscape.
func (s *service) lookUp(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery) // r.URL.Query would ignore malformed parameters
	if err != nil || len(query["key"]) != 1 {
		http.Error(w, "missing or malformed key: use /lookup?key=KEY, with % escapes", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	_, err = s.set.Get(ctx, []byte(query.Get("key")))
	switch {
	case err == nil:
		fmt.Fprintln(w, "present")
	case errors.Is(err, table.ErrFilterOnly): // the set contains only filters
		fmt.Fprintln(w, "may be present")
	case errors.Is(err, table.ErrNotFound):
		http.Error(w, "absent", http.StatusNotFound)
	default: // GET /health shows the reason
		http.Error(w, "lookup failed: see /health", http.StatusServiceUnavailable)
	}
}

// health lists the unavailable tables. It tries to reopen them first: if a load balancer sends no lookups here,
// nothing else would.
func (s *service) health(w http.ResponseWriter, r *http.Request) {
	s.set.Reopen(r.Context()) // Unavailable returns its errors
	var out []string
	for t, err := range s.set.Unavailable() {
		out = append(out, fmt.Sprintf("%s: %v", t.Name, err))
	}
	if len(out) > 0 {
		http.Error(w, "unavailable tables:\n"+strings.Join(out, "\n"), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "all tables are available")
}

// reload switches to the bucket's current manifest. It returns when nothing reads the old tables, so that a sweep can
// delete them. If a new table cannot be opened, the old manifest stays in use.
func (s *service) reload(w http.ResponseWriter, r *http.Request) {
	if err := s.takeUp(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "the bucket's manifest is in use")
}

func (s *service) takeUp(ctx context.Context) error {
	s.reloading.Lock() // a concurrent reload could restore an older manifest
	defer s.reloading.Unlock()
	m, err := set.LoadManifest(ctx, s.store, set.ManifestName)
	if err != nil {
		return err
	}
	if err := s.set.Swap(ctx, m); err != nil {
		return err
	}
	return s.set.Drain(ctx)
}
