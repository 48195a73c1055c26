package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
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
	if diff := cmp.Diff(build(filter.NewBloom(10), "a", "b"), build(p, "a", "b")); diff != "" {
		t.Errorf("filter of the renamed policy (-plain +renamed):\n%s", diff)
	}
	if err := filter.Rename(listPolicy{}, "x").(interface{ Check(filter []byte) error }).Check(nil); err != nil {
		t.Errorf("Check of a policy without one = %v, want nil", err)
	}
}

// buildTableFilter returns a table filter of the given keys.
func buildTableFilter(t testing.TB, p filter.TablePolicy, keys ...string) []byte {
	t.Helper()
	g := p.NewTableGenerator()
	for _, k := range keys {
		g.Add([]byte(k))
	}
	f, err := g.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A policy of one kind does not compile in place of one of the other kind.
func TestPolicyKindsDiffer(t *testing.T) {
	for _, p := range []any{filter.NewBloom(10), filter.Rename(filter.NewBloom(10), "x"), listPolicy{}} {
		if _, ok := p.(filter.Policy); !ok {
			t.Errorf("%T is not a Policy", p)
		}
		if _, ok := p.(filter.TablePolicy); ok {
			t.Errorf("%T is a TablePolicy, which a Policy must not be", p)
		}
	}
	if _, ok := any(filter.NewTableBloom(10)).(filter.Policy); ok {
		t.Error("TableBloom is a Policy, which a TablePolicy must not be")
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

func TestAdaptedPolicyAnswersAsThePolicy(t *testing.T) {
	t.Parallel()
	var p otherPolicy = filter.Adapt[otherGenerator, otherBuffer](filter.NewBloom(10))
	g := p.NewGenerator()
	g.Add([]byte("key"))
	var b filter.Bytes
	g.Generate(&b)
	if diff := cmp.Diff(build(filter.NewBloom(10), "key"), []byte(b)); diff != "" {
		t.Errorf("adapted filter (-want +got):\n%s", diff)
	}
	if p.Name() != "leveldb.BuiltinBloomFilter" || !p.Contains(b, []byte("key")) || p.Contains(b, []byte("other")) {
		t.Error("the adapted policy does not answer as the policy does")
	}
}

func TestAdaptPanicsAtOnce(t *testing.T) {
	t.Parallel()
	defer func() {
		got := fmt.Sprint(recover())
		for _, want := range []string{"filter_test.otherPolicy", "filter_test.otherBuffer"} {
			if !strings.Contains(got, want) {
				t.Errorf("panic %q does not name %q", got, want)
			}
		}
	}()
	filter.Adapt[otherPolicy, otherBuffer](filter.NewBloom(10))
}

// From is the reverse of Adapt.
func TestFromIsTheReverseOfAdapt(t *testing.T) {
	t.Parallel()
	p := filter.From(filter.Adapt[otherGenerator, otherBuffer](filter.NewBloom(10)))
	if diff := cmp.Diff(build(filter.NewBloom(10), "key"), build(p, "key")); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
	if p.Name() != "leveldb.BuiltinBloomFilter" || !p.Contains(build(p, "key"), []byte("key")) || p.Contains(build(p, "key"), []byte("other")) {
		t.Error("the policy does not answer as the adapted one does")
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

func TestFromPanicsAtOnce(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "filter_test.widerBuffer") {
			t.Errorf("panic %q does not name widerBuffer", got)
		}
	}()
	filter.From(filter.Adapt[widerGenerator, widerBuffer](filter.NewBloom(10)))
}
