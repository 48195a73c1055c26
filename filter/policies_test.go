package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/filtertest"
)

func TestRenameChangesTheNameOnly(t *testing.T) {
	t.Parallel()
	p := filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter2")
	if got, want := p.Name(), "leveldb.BuiltinBloomFilter2"; got != want {
		t.Errorf("Name = %q, want %q", got, want)
	}
	if _, ok := p.(interface{ Aliases() []string }); ok {
		t.Error("a renamed policy has aliases")
	}
	if diff := cmp.Diff(filtertest.Build(filter.NewBloom(10), "a", "b"), filtertest.Build(p, "a", "b")); diff != "" {
		t.Errorf("filter of the renamed policy (-plain +renamed):\n%s", diff)
	}
	if err := filter.Rename(listPolicy{}, "x").(interface{ Check(filter []byte) error }).Check(nil); err != nil {
		t.Errorf("Check of a policy without one = %v, want nil", err)
	}
}

// otherGenerator and otherBuffer stand for another package's interfaces.
type (
	otherBuffer interface {
		Alloc(n int) []byte
		Write(p []byte) (n int, err error)
		WriteByte(c byte) error
	}
	otherGenerator interface {
		Add(key []byte)
		Generate(b otherBuffer)
	}
	otherPolicy interface {
		Name() string
		NewGenerator() otherGenerator
		Contains(filter, key []byte) bool
	}
)

// From is the inverse of Adapt, and lookups through both agree with the policy.
func TestAdaptedPolicyAnswersAsThePolicy(t *testing.T) {
	t.Parallel()
	var adapted otherPolicy = filter.Adapt[otherGenerator, otherBuffer](filter.NewBloom(10))
	p := filter.From(adapted)
	f := filtertest.Build(p, "key")
	if diff := cmp.Diff(filtertest.Build(filter.NewBloom(10), "key"), f); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
	for _, p := range []interface {
		Name() string
		Contains(filter, key []byte) bool
	}{adapted, p} {
		if p.Name() != "leveldb.BuiltinBloomFilter" || !p.Contains(f, []byte("key")) || p.Contains(f, []byte("other")) {
			t.Errorf("%T does not answer as the policy does", p)
		}
	}
}

type (
	widerBuffer interface {
		filter.Buffer
		Grow(n int)
	}
	widerGenerator interface {
		Add(key []byte)
		Generate(b widerBuffer)
	}
)

func TestAdaptAndFromPanicAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		call func()
		want []string // in the panic
	}{
		{func() { filter.Adapt[otherPolicy, otherBuffer](filter.NewBloom(10)) },
			[]string{"filter_test.otherPolicy", "filter_test.otherBuffer"}},
		{func() { filter.From(filter.Adapt[widerGenerator, widerBuffer](filter.NewBloom(10))) },
			[]string{"filter_test.widerBuffer"}},
	} {
		got := fmt.Sprint(errtest.PanicOf(tt.call))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("panic %q does not name %q", got, want)
			}
		}
	}
}
