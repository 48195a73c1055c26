package dbread

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// A caller may change its slices: tables that are opened later use the original policies and codecs.
func TestOwnOptions(t *testing.T) {
	t.Parallel()
	given := table.ReaderOptions{
		FilterPolicies: []filter.Policy{filter.NewBloom(10)}, TableFilterPolicies: []filter.TablePolicy{filter.NewTableBloom(10)},
		Codecs: []table.Codec{table.Snappy}, FilterPrefixes: []filter.Prefixer{filter.PrefixUntil("/")},
	}
	own := given
	if err := OwnOptions("set", &own, nil); err != nil {
		t.Fatal(err)
	}
	clear(given.FilterPolicies)
	clear(given.TableFilterPolicies)
	clear(given.Codecs)
	clear(given.FilterPrefixes)
	if own.FilterPolicies[0] == nil || own.TableFilterPolicies[0] == nil || own.Codecs[0] == nil || own.FilterPrefixes[0] == nil {
		t.Errorf("the caller's slices are used: %+v", own)
	}
}

func TestOwnOptionsRefuse(t *testing.T) {
	t.Parallel()
	why := map[string]string{"Name": "the set sets it"}
	for want, o := range map[string]table.ReaderOptions{
		"set: Reader.Name must not be set: the set sets it": {Name: "a"},
		"table: TailSize is -1 (minimum 0)":                 {TailSize: -1},
	} {
		if err := OwnOptions("set", &o, why); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := OwnOptions("set", &table.ReaderOptions{CacheKey: "a"}, why); err != nil {
		t.Errorf("an option without a reason: %v", err)
	}
}
