package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

func TestMain(m *testing.M) {
	s3test.ServeIfAsked()
	os.Exit(m.Run())
}

// openStore opens the store of a URL.
func openStore(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// tableNamed returns the name of table i.
func tableNamed(i int) string { return fmt.Sprintf("%064x.ldb", i) }

// putManifest puts a manifest of the tables.
func putManifest(t *testing.T, s *store.Store, key string, tables ...int) {
	t.Helper()
	m := new(set.Manifest)
	slices.Sort(tables)
	for _, i := range tables {
		key := fmt.Appendf(nil, "%05d", i)
		m.Tables = append(m.Tables, set.Table{
			Name: tableNamed(i), Size: 100, SHA256: strings.TrimSuffix(tableNamed(i), ".ldb"), Entries: 1,
			Smallest: key, Largest: key, TailSize: 50,
		})
	}
	if err := cloud.WriteManifest(context.Background(), s.Bucket, key, m); err != nil {
		t.Fatal(err)
	}
}

// putTables puts objects of the tables' names.
func putTables(t *testing.T, s *store.Store, tables ...int) {
	t.Helper()
	for _, i := range tables {
		if err := s.WriteAll(t.Context(), tableNamed(i), []byte("a table"), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// keys returns the names of the objects.
func keys(t *testing.T, s *store.Store) []string {
	t.Helper()
	all, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(all))
}

// plan plans a sweep of objects of any age.
func plan(t *testing.T, s *store.Store, others ...string) *Sweep {
	t.Helper()
	w, err := Plan(t.Context(), s, others, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func ignore(store.Object) {}

// A change is what happens between the plan and the deletion of tables 2 and 3. Table 1 is listed.
type change struct {
	name   string
	change func(t *testing.T, dir string, s *store.Store) error
	want   []int // tables that stay
	fails  bool
}

var changes = []change{
	{"nothing", func(*testing.T, string, *store.Store) error { return nil }, []int{1}, false},
	{"a manifest lists them", func(t *testing.T, _ string, s *store.Store) error {
		putManifest(t, s, set.ManifestName, 2, 3)
		return nil
	}, []int{1, 2, 3}, false},
	{"another manifest lists one", func(t *testing.T, _ string, s *store.Store) error {
		putManifest(t, s, "other", 3)
		return nil
	}, []int{1, 3}, false},
	{"a manifest is gone", func(_ *testing.T, dir string, _ *store.Store) error {
		return os.Remove(filepath.Join(dir, "other"))
	}, []int{1, 2, 3}, true},
	{"a manifest is damaged", func(_ *testing.T, dir string, _ *store.Store) error {
		return os.Truncate(filepath.Join(dir, "other"), 60)
	}, []int{1, 2, 3}, true},
	{"a table is sent again", func(_ *testing.T, dir string, _ *store.Store) error {
		later := time.Now().Add(time.Hour)
		return os.Chtimes(filepath.Join(dir, tableNamed(2)), later, later)
	}, []int{1, 2}, false},
	{"a table is deleted", func(t *testing.T, _ string, s *store.Store) error {
		return s.Delete(t.Context(), tableNamed(2))
	}, []int{1}, false},
}

func TestChangesBeforeDelete(t *testing.T) {
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, "file://"+filepath.ToSlash(dir))
			putTables(t, s, 1, 2, 3)
			putManifest(t, s, set.ManifestName, 1)
			putManifest(t, s, "other", 1)
			w := plan(t, s, "other")
			if err := tt.change(t, dir, s); err != nil {
				t.Fatal(err)
			}
			if err := w.Delete(t.Context(), 4, ignore); (err != nil) != tt.fails {
				t.Error(err)
			}
			var left []int
			for i := range 4 {
				if slices.Contains(keys(t, s), tableNamed(i)) {
					left = append(left, i)
				}
			}
			if diff := cmp.Diff(tt.want, left); diff != "" {
				t.Errorf("tables (-want +got):\n%s", diff)
			}
		})
	}
}

// Of random objects and manifests, those stay that a manifest lists.
func TestSweepDeletesWhatNoManifestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 26))
	for range 30 {
		s := openStore(t, "file://"+filepath.ToSlash(t.TempDir()))
		var want, gone []string
		listed := map[string][]int{}
		others := []string{"a.jsonl", tableNamed(99)}[:r.IntN(3)]
		all := append([]string{set.ManifestName}, others...)
		for i := range r.IntN(30) {
			putTables(t, s, i)
			if r.IntN(2) == 0 {
				key := all[r.IntN(len(all))]
				listed[key] = append(listed[key], i)
				want = append(want, tableNamed(i))
				continue
			}
			gone = append(gone, tableNamed(i))
		}
		for _, key := range all {
			putManifest(t, s, key, listed[key]...)
			want = append(want, key)
		}
		var deleted []string
		w := plan(t, s, others...)
		if err := w.Delete(t.Context(), 1+r.IntN(5), func(o store.Object) { deleted = append(deleted, o.Key) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if diff := cmp.Diff([][]string{want, gone}, [][]string{keys(t, s), deleted}); diff != "" {
			t.Fatalf("objects, deleted (-want +got):\n%s", diff)
		}
	}
}

// A manifest that is written between the last look and the deletion is noticed, also if the store then
// refuses to delete another table.
func TestManifestWhileDeleting(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	for _, refused := range []string{"", tableNamed(3)} {
		p := s3test.NewProxy(t)
		parameters := url.Values{"endpoint": {p.URL}, "region": {"us-east-1"}, "use_path_style": {"true"}}
		s := openStore(t, "s3://"+s3test.BucketName(t)+"?"+parameters.Encode())
		putTables(t, s, 1, 2, 3)
		putManifest(t, s, set.ManifestName, 1)
		w := plan(t, s)
		written := false
		p.Spoil(func(rw http.ResponseWriter, r *http.Request, server http.Handler) {
			switch {
			case r.Method != http.MethodDelete:
			case !written:
				written = true
				putManifest(t, s, set.ManifestName, 1, 2)
			case strings.HasSuffix(r.URL.Path, "/"+refused):
				http.Error(rw, "refused", http.StatusForbidden)
				return
			}
			server.ServeHTTP(rw, r)
		})
		err := w.Delete(t.Context(), 1, ignore)
		if !errors.As(err, new(*ListedError)) || !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), tableNamed(2)) {
			t.Errorf("%v, want a ListedError of table 2", err)
		}
		if got := strings.Contains(fmt.Sprint(err), tableNamed(3)); got != (refused != "") {
			t.Errorf("%v, want the refusal of %q in it", err, refused)
		}
	}
}
