package set_test

import (
	"errors"
	"strings"
	"testing"

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
	if _, err := set.Open(background, m, src, eager); err == nil || !strings.Contains(err.Error(), `filter "custom": no policy of that name`) {
		t.Errorf("Open without the policy = %v", err)
	}
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
