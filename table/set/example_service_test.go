package set_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A service looks up keys in a set. It can start without some tables, and take a new manifest without a pause.
type service struct {
	path string
	set  *set.Set

	reloading sync.Mutex
}

// openService opens the set of a directory.
func openService(ctx context.Context, path string) (*service, error) {
	s := &service{path: path}
	var err error
	s.set, err = set.OpenDir(ctx, path, &set.Options{
		Reader: table.ReaderOptions{
			Cache: table.NewCache(64 << 20),
			// For sets of sst build --table-filter fuse, add filter/fuse's policy:
			// TableFilterPolicies: []filter.TablePolicy{fuse.Policy{}},
		},
		OpenAll:     true, // reload fails if a table of the new list cannot be opened
		OnLoss:      s.goesOnWithout,
		ReadTimeout: 10 * time.Second, // for object storage
	})
	return s, err
}

// goesOnWithout lets the service start without tables that cannot be opened. It rejects a new list with such tables,
// since the old list is complete.
func (s *service) goesOnWithout(table.Loss) bool { return s.set == nil }

// handler returns the handler of the service.
func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.lookUp)
	mux.HandleFunc("/health", s.health)
	return mux
}

// lookUp answers /?key=… with 200 if the key is present, 404 if it is absent, and 502 if the lookup failed. In a set of
// filters, 200 means that the key may be present. The lookup ends when the client disconnects.
func (s *service) lookUp(w http.ResponseWriter, r *http.Request) {
	_, err := s.set.Get(r.Context(), []byte(r.URL.Query().Get("key")))
	switch {
	case err == nil:
		fmt.Fprint(w, "present")
	case errors.Is(err, table.ErrFilterOnly): // for which Get is MayContain
		fmt.Fprint(w, "may be present")
	case errors.Is(err, table.ErrNotFound):
		http.Error(w, "absent", http.StatusNotFound)
	case r.Context().Err() == nil:
		http.Error(w, "the key cannot be looked up", http.StatusBadGateway)
	}
}

// health answers with 200 if all tables are available, otherwise with 503 and the names of the others. It opens these
// again first: an unhealthy service may get no lookups that would do so.
func (s *service) health(w http.ResponseWriter, r *http.Request) {
	s.set.Reopen(r.Context()) // Unavailable has its errors
	var out []string
	for t := range s.set.Unavailable() {
		out = append(out, t.Name)
	}
	if len(out) > 0 {
		http.Error(w, "unavailable: "+strings.Join(out, ", "), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprint(w, "all tables are available")
}

// reload switches to the directory's present manifest, and deletes the old tables once nothing uses them. If a new
// table cannot be opened, nothing changes. Write no new list while reload runs: it could list a file that is deleted.
func (s *service) reload(ctx context.Context) error {
	s.reloading.Lock() // another reload could bring old tables back
	defer s.reloading.Unlock()
	dir := set.NewDir(s.path)
	defer dir.Close()
	m, err := dir.ReadManifest()
	if err != nil {
		return err
	}
	old := s.set.Manifest()
	if err := s.set.Swap(ctx, m); err != nil {
		return err
	}
	if err := s.set.Drain(ctx); err != nil {
		return err // the old files stay
	}
	return s.deleteUnlisted(old)
}

// deleteUnlisted deletes the tables of old that the present manifest does not list.
func (s *service) deleteUnlisted(old *set.Manifest) error {
	used := map[string]bool{}
	for t := range s.set.Manifest().All() {
		used[t.Name] = true
	}
	var errs []error
	for t := range old.All() {
		if !used[t.Name] {
			errs = append(errs, os.Remove(filepath.Join(s.path, t.Name)))
		}
	}
	return errors.Join(errs...)
}

// ask sends a request for each path, and prints the responses.
func ask(server *httptest.Server, paths ...string) {
	for _, path := range paths {
		response, err := server.Client().Get(server.URL + path)
		if err != nil {
			log.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			log.Fatal(err)
		}
		response.Body.Close()
		fmt.Printf("%s: %d %s\n", path, response.StatusCode, strings.TrimSpace(string(body)))
	}
}

// An HTTP service starts without one of its tables, and switches to a new list while it runs.
func Example_service() {
	dir := makeFruits([]string{"apple", "banana"}, []string{"cherry", "damson"})
	defer os.RemoveAll(dir)
	cherries := filepath.Join(dir, "cherry.ldb")
	if err := os.Rename(cherries, cherries+" is away"); err != nil { // a table that cannot be read for now
		log.Fatal(err)
	}
	ctx := context.Background()
	s, err := openService(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	defer s.set.Close()
	server := httptest.NewServer(s.handler())
	defer server.Close()

	ask(server, "/?key=banana", "/?key=fig", "/?key=damson", "/health")
	if err := os.Rename(cherries+" is away", cherries); err != nil { // it is back
		log.Fatal(err)
	}
	ask(server, "/health", "/?key=damson")
	if err := writeFruits(dir, []string{"apple2", "banana", "fig"}); err != nil { // a new manifest
		log.Fatal(err)
	}
	if err := s.reload(ctx); err != nil {
		log.Fatal(err)
	}
	ask(server, "/?key=fig", "/?key=damson")
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	fmt.Println(len(tables), "table,", err)
	// Output:
	// /?key=banana: 200 present
	// /?key=fig: 404 absent
	// /?key=damson: 502 the key cannot be looked up
	// /health: 503 unavailable: cherry.ldb
	// /health: 200 all tables are available
	// /?key=damson: 200 present
	// /?key=fig: 200 present
	// /?key=damson: 404 absent
	// 1 table, <nil>
}
