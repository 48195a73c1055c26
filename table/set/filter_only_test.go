package set_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// custom is a policy that a Set does not know by itself.
type custom struct{ filter.TableBloom }

func (custom) Name() string { return "custom" }

// A set of filters wants their policy. It says which keys are absent, and nothing more.
func TestSetOfFiltersNeedsTheirPolicy(t *testing.T) {
	t.Parallel()
	policy := custom{filter.NewTableBloom(10)}
	src, o := newStore(), &table.WriterOptions{FilterOnly: true, TableFilterPolicy: policy}
	m := &set.Manifest{Tables: []set.Table{src.put(t, "t", o, [][2]string{{"apple", ""}, {"cherry", ""}})}}
	if _, err := set.Open(background, m, src, eager); err == nil || !strings.Contains(err.Error(), `filter "custom": no policy of that name in the options`) {
		t.Errorf("Open without the policy = %v", err)
	}
	checkMissingPolicy(t, m, src)
	s := open(t, m, src, &set.Options{Reader: table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{policy}}})
	for key, want := range map[string]error{"apple": table.ErrFilterOnly, "banana": table.ErrNotFound, "cherry": table.ErrFilterOnly, "damson": table.ErrNotFound} {
		if may, err := s.MayContain(background, []byte(key)); err != nil || may != (want == table.ErrFilterOnly) {
			t.Errorf("MayContain(%s) = %v, %v", key, may, err)
		}
		if _, err := s.Get(background, []byte(key)); !errors.Is(err, want) {
			t.Errorf("Get(%s) = %v, want %v", key, err, want)
		}
	}
	it := s.NewIter(background, nil)
	if it.First() || !errors.Is(it.Error(), table.ErrFilterOnly) {
		t.Errorf("First: %v, want ErrFilterOnly", it.Error())
	}
	if err := it.Close(); !errors.Is(err, table.ErrFilterOnly) {
		t.Errorf("Close = %v, want ErrFilterOnly", err)
	}
}

// checkMissingPolicy checks that a missing policy is no reason to go on without a table, and that it is an
// error of each lookup where no table is opened before.
func checkMissingPolicy(t *testing.T, m *set.Manifest, src *store) {
	t.Helper()
	goOn := &set.Options{OpenAll: true, OnLoss: func(table.Loss) bool { return true }}
	if _, err := set.Open(background, m, src, goOn); !errors.Is(err, table.ErrUnknownFilter) || !strings.Contains(err.Error(), "TableFilterPolicies") {
		t.Errorf("Open that goes on without tables = %v, want ErrUnknownFilter", err)
	}
	s := open(t, &set.Manifest{}, src, goOn)
	if err := s.Swap(background, m); !errors.Is(err, table.ErrUnknownFilter) {
		t.Errorf("Swap = %v, want ErrUnknownFilter", err)
	}
	s = open(t, m, src, nil)
	for _, key := range []string{"apple", "banana"} {
		if _, err := s.Get(background, []byte(key)); !errors.Is(err, table.ErrUnknownFilter) {
			t.Errorf("Get(%s) = %v, want ErrUnknownFilter", key, err)
		}
		if _, err := s.MayContain(background, []byte(key)); !errors.Is(err, table.ErrUnknownFilter) {
			t.Errorf("MayContain(%s) = %v, want ErrUnknownFilter", key, err)
		}
	}
}

// A set whose filters need a policy that is missing would read for each absent key: with OpenAll, it does not open,
// unless filters are ignored. Without OpenAll, FilterErr reports it.
func TestOpenAllNeedsThePolicies(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, &table.WriterOptions{TableFilterPolicy: custom{filter.NewTableBloom(10)}})
	checkMissing := func(err error) {
		t.Helper()
		if !errors.Is(err, table.ErrUnknownFilter) || !strings.Contains(err.Error(), `t00`) || !strings.HasSuffix(err.Error(), `add the policy to Reader.TableFilterPolicies of the set's Options`) {
			t.Errorf("%v, want ErrUnknownFilter of a table", err)
		}
	}
	goOn := &set.Options{OpenAll: true, OnLoss: func(table.Loss) bool { return true }}
	_, err := set.Open(background, m, src, goOn)
	checkMissing(err)
	checkMissing(open(t, &set.Manifest{}, src, goOn).Swap(background, m))
	for name, o := range map[string]*set.Options{
		"known":   {OpenAll: true, Reader: table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{custom{}}}},
		"ignored": {OpenAll: true, Reader: table.ReaderOptions{IgnoreFilter: true}},
		"lazy":    nil,
	} {
		s := open(t, m, src, o)
		if _, err := s.Get(background, []byte(key(0))); err != nil || errors.Is(s.FilterErr(), table.ErrUnknownFilter) != (o == nil) {
			t.Errorf("%s: Get = %v, FilterErr %v", name, err, s.FilterErr())
		}
	}
}

// The service of the example answers for a set of filters by 200 or 404.
func TestServiceOfFilters(t *testing.T) {
	t.Parallel()
	dir, src := t.TempDir(), newStore()
	o := &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(20)}
	line := src.put(t, "t", o, [][2]string{{"apple", ""}, {"cherry", ""}})
	if err := os.WriteFile(filepath.Join(dir, "t"), src.files["t"], 0o600); err != nil {
		t.Fatal(err)
	}
	putManifest(t, dir, &set.Manifest{Tables: []set.Table{line}})
	s, err := openService(background, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.set.Close()
	got := map[string]int{}
	for _, path := range []string{"/?key=apple", "/?key=banana", "/?key=cherry", "/?key=damson", "/health"} {
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		got[path] = w.Code
	}
	want := map[string]int{"/?key=apple": 200, "/?key=banana": 404, "/?key=cherry": 200, "/?key=damson": 404, "/health": 200}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
