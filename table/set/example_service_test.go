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

// A service says which keys are in a set. It takes up a new manifest without a pause, and starts also
// without some tables.
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
		OpenAll:     true, // what is wrong with a new list is an error of reload
		OnLoss:      s.goesOnWithout,
		ReadTimeout: 10 * time.Second, // of a store, such as one that table/cloud asks
	})
	return s, err
}

// goesOnWithout says that the service starts without tables that cannot be opened. It takes up no new list
// without them: the one that it has has more answers.
func (s *service) goesOnWithout(table.Loss) bool { return s.set == nil }

// handler returns what answers the requests of the service.
func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.lookUp)
	mux.HandleFunc("/health", s.health)
	return mux
}

// lookUp answers /?key=… with 200 if the key is present, 404 if it is absent, and 502 if that
// cannot be told. For a set of filters, 200 means that the key may be present. When the client goes away, the
// lookup ends.
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

// health answers with 200 if all tables have answers, and else with 503 and those that have none. It tries
// them first: where nobody asks a service that is not well, no lookup would find that they are back.
func (s *service) health(w http.ResponseWriter, r *http.Request) {
	s.set.Reopen(r.Context()) // Unavailable has its errors
	var out []string
	for t := range s.set.Unavailable() {
		out = append(out, t.Name)
	}
	if len(out) > 0 {
		http.Error(w, "no answers from "+strings.Join(out, ", "), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprint(w, "all tables have answers")
}

// reload takes up the manifest that is in the directory now. When the old tables are not used
// any more, it deletes their files. If a new table cannot be opened, all stays as it is. Who
// writes a new list waits until reload has returned: else it could count on a file that is
// deleted.
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

// deleteUnlisted deletes the files of old whose tables the present manifest does not list.
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

// ask sends a request for each path, and prints the answers.
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

// A service over HTTP, whose set is replaced while it runs. At first one of its tables cannot be read.
func Example_service() {
	dir, err := os.MkdirTemp("", "set")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := writeFruits(dir, []string{"apple", "banana"}, []string{"cherry", "damson"}); err != nil {
		log.Fatal(err)
	}
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
	// /health: 503 no answers from cherry.ldb
	// /health: 200 all tables have answers
	// /?key=damson: 200 present
	// /?key=fig: 200 present
	// /?key=damson: 404 absent
	// 1 table, <nil>
}
