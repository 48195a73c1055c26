package paged_test

import (
	"testing"

	"github.com/sievetable/sievetable/internal/filtertest"
)

// Goroutines that look up the first keys in a page at the same time all get the right results.
func TestManyGoroutinesLookUp(t *testing.T) {
	t.Parallel()
	keys := numbered(1, 50_000)
	contents := build(t, 10, keys)
	contents[100] ^= 1 // a corrupt page
	f, r := open(t, contents), newReader(t, contents)
	filtertest.AtOnce(4, func(g int) {
		filtertest.CheckContains(t, f.Contains, keys)
		for _, key := range keys[g*500 : g*500+500] {
			if found, err := r.Contains(key); (!found || err != nil) && r.pageOf(key) != 0 {
				t.Errorf("the Reader returns %v, %v", found, err)
			}
		}
	})
}
