package merge_test

import (
	"testing"

	"github.com/sievetable/sievetable/table/merge"
)

// Keys and values in memory may be nil, which means empty.
func TestMemoryIterIsNotNil(t *testing.T) {
	t.Parallel()
	it := merge.NewMemoryIter(nil, 1, func(int) (key, value []byte) { return nil, nil })
	if !it.First() || it.Key() == nil || it.Value() == nil {
		t.Errorf("the entry is %#v, %#v, want empty slices", it.Key(), it.Value())
	}
}
