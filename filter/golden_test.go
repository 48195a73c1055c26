package filter_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/manifest"
)

// The filters that goleveldb and C++ LevelDB built are built here bit for bit, and Contains
// gives the answers that these engines gave.
func TestEnginesFilters(t *testing.T) {
	t.Parallel()
	for _, producer := range []string{"goleveldb", "leveldb"} {
		filters, err := manifest.ReadFilters("../testdata", producer)
		noError(t, err)
		if len(filters) < 30 {
			t.Errorf("%s: %d filters", producer, len(filters))
		}
		for _, g := range filters {
			t.Run(fmt.Sprintf("%s/%s/bits=%d", producer, g.Name, g.BitsPerKey), func(t *testing.T) { checkEnginesFilter(t, g) })
		}
	}
}

func checkEnginesFilter(t *testing.T, g manifest.Filter) {
	p := filter.NewBloom(g.BitsPerKey)
	got := filtertest.Build(p, g.Keys...)
	if !bytes.Equal(got, g.Filter) {
		t.Errorf("filter is\n%x, want\n%x", got, []byte(g.Filter))
	}
	for _, key := range g.Keys {
		if !p.Contains(g.Filter, key) {
			t.Errorf("Contains(%x) = false, but it was added", []byte(key))
		}
	}
	for _, a := range g.Answers {
		if got := p.Contains(g.Filter, a.Key); got != a.MayContain {
			t.Errorf("Contains(%x) = %v, want %v", []byte(a.Key), got, a.MayContain)
		}
	}
}
