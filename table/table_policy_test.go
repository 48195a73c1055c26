package table_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// listPolicy is a table policy of a user: its filters are the keys, each with a
// comma behind it.
type listPolicy struct {
	name   string
	opened *[]string // the names of policies whose Open was called; may be nil
}

func (p listPolicy) Name() string { return p.name }

func (listPolicy) Aliases() []string { return []string{"test.OldList"} }

func (listPolicy) NewTableGenerator() filter.TableGenerator { return new(listGenerator) }

func (p listPolicy) Open(f []byte) (filter.TableFilter, error) {
	if p.opened != nil {
		*p.opened = append(*p.opened, p.name)
	}
	if !strings.HasSuffix(string(f), ",") {
		return nil, errors.New("list without a comma at its end")
	}
	return list(strings.Split(string(f), ",")), nil
}

type listGenerator struct{ keys []byte }

func (g *listGenerator) Add(key []byte) { g.keys = append(append(g.keys, key...), ',') }

// Generate fails if there is an empty key, since the list would not hold it.
func (g *listGenerator) Generate() ([]byte, error) {
	if len(g.keys) == 1 {
		return nil, errors.New("the empty key has no list")
	}
	return g.keys, nil
}

type list []string

func (l list) Contains(key []byte) bool { return slices.Contains(l, string(key)) }

// A Reader finds a user's table filter by the name or alias of a policy in its options.
// Of several policies it uses the first one that matches.
func TestTableFilterPolicies(t *testing.T) {
	pairs := numbered(100)
	contents := build(t, &table.WriterOptions{TableFilterPolicy: listPolicy{name: "test.List"}}, pairs)
	for _, tt := range []struct {
		name     string
		policies string
		opened   []string
		err      string
	}{
		{"none", "", nil, `table: filter "test.List": no policy of that name`},
		{"by name", "test.List", []string{"test.List"}, "<nil>"},
		{"by alias", "test.NewList", []string{"test.NewList"}, "<nil>"},
		{"the first that matches", "test.NewList test.List", []string{"test.NewList"}, "<nil>"},
	} {
		var opened []string
		policies := []filter.TablePolicy{nil, filter.NewTableBloom(10)}
		for _, name := range strings.Fields(tt.policies) {
			policies = append(policies, listPolicy{name, &opened})
		}
		var m table.Metrics
		r := open(t, contents, &table.ReaderOptions{TableFilterPolicies: policies, Metrics: &m})
		if diff := cmp.Diff(tt.opened, opened); diff != "" || textOf(r.FilterErr()) != tt.err {
			t.Errorf("%s: FilterErr is %v, want %s; opened (-want +got):\n%s", tt.name, r.FilterErr(), tt.err, diff)
		}
		checkLookups(t, r, pairs)
		if used := m.TableFilterNegatives.Load() > 0; used != (tt.err == "<nil>") {
			t.Errorf("%s: the filter ruled keys out: %v", tt.name, used)
		}
		if err := r.Verify(); err != nil {
			t.Errorf("%s: Verify = %v", tt.name, err)
		}
	}
}

// emptyPolicy builds filters of 0 bytes.
type emptyPolicy struct{ filter.TablePolicy }

func (emptyPolicy) NewTableGenerator() filter.TableGenerator { return emptyGenerator{} }

type emptyGenerator struct{}

func (emptyGenerator) Add([]byte)                {}
func (emptyGenerator) Generate() ([]byte, error) { return nil, nil }

// Without the filter that the options ask for there is no table.
func TestCloseReportsThatThereIsNoTableFilter(t *testing.T) {
	for _, tt := range []struct {
		policy filter.TablePolicy
		want   string
	}{
		{listPolicy{name: "test.List"}, `table: filter policy "test.List": the empty key has no list`},
		{emptyPolicy{listPolicy{name: "test.Empty"}}, `table: policy "test.Empty" wrote a filter of no bytes`},
	} {
		w, err := table.NewWriter(io.Discard, &table.WriterOptions{TableFilterPolicy: tt.policy})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append([]byte(""), nil); err != nil {
			t.Fatal(err)
		}
		if got := textOf(w.Close()); got != tt.want {
			t.Errorf("Close = %q, want %q", got, tt.want)
		}
	}
}
