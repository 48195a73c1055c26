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
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/codecs"
	"github.com/sievetable/sievetable/table/set"
)

// A service says which keys the set of a bucket has.
type service struct {
	store   *cloud.Store
	set     *set.Set
	timeout time.Duration // of a lookup

	reloading sync.Mutex
}

// openService opens the set of the bucket. It starts also without tables that cannot be opened now:
// the keys of all others have their answers. It has the policies and codecs of all tables that sst build
// writes.
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
			TableFilterPolicies: []filter.TablePolicy{fuse.Policy{}},
			Codecs:              codecs.All(),
		},
		OpenAll:     true, // what is wrong with a new list is an error of reload
		OnLoss:      s.goesOnWithout,
		ReadTimeout: timeout,
	})
	return s, err
}

// goesOnWithout says that the service starts without a table, but takes up no new list without one: the
// list that is in use has more answers.
func (s *service) goesOnWithout(l table.Loss) bool {
	starts := s.set == nil
	if starts {
		log.Printf("without table %s for now: %v", l.File, l.Err)
	}
	return starts
}

// handler returns what answers the requests of the service.
func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lookup", s.lookUp)
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("POST /reload", s.reload)
	// What is asked by a wrong path is no absent key.
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "want GET /lookup?key=KEY, GET /health or POST /reload", http.StatusBadRequest)
	})
	return mux
}

// lookUp answers whether the set has a key. Bytes of the key that a URL cannot have are escaped, as by
// url.QueryEscape.
func (s *service) lookUp(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery) // Query leaves out what is not well-formed
	if err != nil || len(query["key"]) != 1 {
		http.Error(w, "want one key, as in /lookup?key=KEY, with % escapes", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	_, err = s.set.Get(ctx, []byte(query.Get("key")))
	switch {
	case err == nil:
		fmt.Fprintln(w, "present")
	case errors.Is(err, table.ErrFilterOnly): // for which Get is MayContain
		fmt.Fprintln(w, "may be present")
	case errors.Is(err, table.ErrNotFound):
		http.Error(w, "absent", http.StatusNotFound)
	default: // health says why
		http.Error(w, "that cannot be told now", http.StatusServiceUnavailable)
	}
}

// health says which tables have no answers. It tries them first: where nobody asks a service that is not
// well, no lookup would find that they are back.
func (s *service) health(w http.ResponseWriter, r *http.Request) {
	s.set.Reopen(r.Context()) // Unavailable has its errors
	var out []string
	for t, err := range s.set.Unavailable() {
		out = append(out, fmt.Sprintf("%s: %v", t.Name, err))
	}
	if len(out) > 0 {
		http.Error(w, "tables without answers:\n"+strings.Join(out, "\n"), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "all tables have answers")
}

// reload takes up the manifest that is in the bucket now. Its answer comes when nothing reads the tables
// of the old one any more, so that a sweep can delete them. If a new table cannot be opened, all stays as
// it is.
func (s *service) reload(w http.ResponseWriter, r *http.Request) {
	if err := s.takeUp(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "the manifest of the bucket is in use")
}

func (s *service) takeUp(ctx context.Context) error {
	s.reloading.Lock() // another reload could bring an older manifest back
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
