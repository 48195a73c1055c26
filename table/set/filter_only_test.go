package set_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// custom is a policy that a Set does not know by default.
type custom struct{ filter.TableBloom }

func (custom) Name() string { return "custom" }

// A set of filters requires their policy. It only tells which keys are absent.
func TestSetOfFiltersNeedsTheirPolicy(t *testing.T) {
	t.Parallel()
	policy := custom{filter.NewTableBloom(10)}
	src, o := newStore(), &table.WriterOptions{FilterOnly: true, TableFilterPolicy: policy}
	m := manifestOf(src.put(t, "t", o, [][2]string{{"apple", ""}, {"cherry", ""}}))
	checkMissingPolicy(t, m, src)
	s := open(t, m, src, &set.Options{Reader: table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{policy}}})
	src.reads.Store(0)
	for key, want := range map[string]error{"apple": table.ErrFilterOnly, "banana": table.ErrNotFound, "cherry": table.ErrFilterOnly, "damson": table.ErrNotFound} {
		if may, err := s.MayContain(background, []byte(key)); err != nil || may != (want == table.ErrFilterOnly) {
			t.Errorf("MayContain(%s) = %v, %v", key, may, err)
		}
		checkGetFails(t, s, key, want)
	}
	checkReads(t, src, 1) // to open the table
	_, err := getMany(background, s, bytesOf("apple", "banana"), nil)
	checkError(t, "GetMany", err, table.ErrFilterOnly, "")
	it := s.NewIter(background, nil)
	checkError(t, "First", moved(it, it.First()), table.ErrFilterOnly, "")
	checkError(t, "Close", it.Close(), table.ErrFilterOnly, "")
	noError(t, s.Verify(background, nil))
}

// checkMissingPolicy checks that OnLoss cannot continue without a policy, and that each lookup returns the error if
// no table is opened before.
func checkMissingPolicy(t *testing.T, m *set.Manifest, src *store) {
	t.Helper()
	_, err := set.Open(background, m, src, eager)
	checkError(t, "Open", err, table.ErrUnknownFilter, `filter "custom": no policy of that name in the options`)
	checkOpenNeedsPolicy(t, m, src)
	s := open(t, m, src, nil)
	for _, key := range []string{"apple", "banana"} {
		checkGetFails(t, s, key, table.ErrUnknownFilter)
		_, err := s.MayContain(background, []byte(key))
		checkError(t, "MayContain", err, table.ErrUnknownFilter, "")
	}
}

// checkOpenNeedsPolicy checks that Open and Swap fail with OpenAll, even if OnLoss returns true.
func checkOpenNeedsPolicy(t *testing.T, m *set.Manifest, src *store) {
	t.Helper()
	const want = `: add the policy to Reader.TableFilterPolicies of the set's Options`
	goOn := &set.Options{OpenAll: true, OnLoss: func(table.Loss) bool { return true }}
	_, err := set.Open(background, m, src, goOn)
	checkError(t, "Open", err, table.ErrUnknownFilter, want)
	checkError(t, "Swap", open(t, &set.Manifest{}, src, goOn).Swap(background, m), table.ErrUnknownFilter, want)
}

// If a policy is missing, a set would read for each absent key. So with OpenAll, it does not open, unless filters
// are ignored. Without OpenAll, FilterErr reports it.
func TestOpenAllNeedsThePolicies(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, &table.WriterOptions{TableFilterPolicy: custom{filter.NewTableBloom(10)}})
	checkOpenNeedsPolicy(t, m, src)
	for name, o := range map[string]*set.Options{
		"known":   {OpenAll: true, Reader: table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{custom{}}}},
		"ignored": {OpenAll: true, Reader: table.ReaderOptions{IgnoreFilter: true}},
		"lazy":    nil,
	} {
		s := open(t, m, src, o)
		if err := getOf(0)(s); err != nil || errors.Is(s.FilterErr(), table.ErrUnknownFilter) != (o == nil) {
			t.Errorf("%s: Get = %v, FilterErr %v", name, err, s.FilterErr())
		}
		if err := s.FilterErr(); err != nil && strings.Count(err.Error(), "t000") != 1 {
			t.Errorf("%s: FilterErr %v, want the table named once", name, err)
		}
	}
}

// The example's service responds with 200 or 404 for a set of filters.
func TestServiceOfFilters(t *testing.T) {
	t.Parallel()
	dir, src := t.TempDir(), newStore()
	o := &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(20)}
	src.writeTo(t, dir, manifestOf(src.put(t, "t", o, [][2]string{{"apple", ""}, {"cherry", ""}})))
	s, err := openService(background, dir)
	noError(t, err)
	defer s.set.Close()
	for path, want := range map[string]int{
		"/?key=apple": 200, "/?key=banana": 404, "/?key=cherry": 200, "/?key=damson": 404, "/health": 200,
	} {
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
