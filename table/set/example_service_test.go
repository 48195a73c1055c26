package set_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A service says which keys are in a set. It takes up a new manifest without a pause.
type service struct {
	path string
	set  *set.Set

	reloading sync.Mutex
}

// ServeHTTP answers /?key=… with 200 if the key is present, 404 if it is absent, and 502 if that
// cannot be told. When the client goes away, the lookup ends.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, err := s.set.Get(r.Context(), []byte(r.URL.Query().Get("key")))
	switch {
	case err == nil:
		fmt.Fprint(w, "present")
	case errors.Is(err, table.ErrNotFound):
		http.Error(w, "absent", http.StatusNotFound)
	case r.Context().Err() == nil:
		http.Error(w, "the key cannot be looked up", http.StatusBadGateway)
	}
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
	for _, t := range s.set.Manifest().Tables {
		used[t.Name] = true
	}
	var errs []error
	for _, t := range old.Tables {
		if !used[t.Name] {
			errs = append(errs, os.Remove(filepath.Join(s.path, t.Name)))
		}
	}
	return errors.Join(errs...)
}

// ask sends a request for each key.
func ask(server *httptest.Server, keys ...string) {
	for _, key := range keys {
		response, err := server.Client().Get(server.URL + "/?key=" + url.QueryEscape(key))
		if err != nil {
			log.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			log.Fatal(err)
		}
		response.Body.Close()
		fmt.Printf("%s: %d %s\n", key, response.StatusCode, strings.TrimSpace(string(body)))
	}
}

// A service over HTTP, whose set is replaced while it runs.
func Example_service() {
	dir, err := os.MkdirTemp("", "set")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := writeFruits(dir, []string{"apple", "banana"}, []string{"cherry", "damson"}); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	fruits, err := set.OpenDir(ctx, dir, &set.Options{
		Reader:  table.ReaderOptions{Cache: table.NewCache(64 << 20)},
		OpenAll: true, // what is wrong with a new list is an error of reload
	})
	if err != nil {
		log.Fatal(err)
	}
	defer fruits.Close()
	s := &service{path: dir, set: fruits}
	server := httptest.NewServer(s)
	defer server.Close()

	ask(server, "banana", "fig")
	if err := os.Truncate(filepath.Join(dir, "cherry.ldb"), 10); err != nil { // a broken disk
		log.Fatal(err)
	}
	ask(server, "damson")
	if err := writeFruits(dir, []string{"apple2", "banana", "fig"}); err != nil { // a new manifest
		log.Fatal(err)
	}
	if err := s.reload(ctx); err != nil {
		log.Fatal(err)
	}
	ask(server, "banana", "fig", "damson")
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	fmt.Println(len(tables), "table,", err)
	// Output:
	// banana: 200 present
	// fig: 404 absent
	// damson: 502 the key cannot be looked up
	// banana: 200 present
	// fig: 200 present
	// damson: 404 absent
	// 1 table, <nil>
}
