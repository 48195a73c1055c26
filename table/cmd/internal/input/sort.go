package input

import (
	"context"
	"iter"

	"github.com/sievetable/sievetable/table/merge"
)

// Sort yields pairs in the order of their keys, as a merge.Sorter does.
func Sort(ctx context.Context, pairs iter.Seq2[Pair, error], o *merge.SorterOptions) iter.Seq2[*merge.Sorted, error] {
	return func(yield func(*merge.Sorted, error) bool) {
		s, err := merge.NewSorter(ctx, o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.Close() // what temporary files were for is done
		for p, err := range pairs {
			if err == nil {
				err = s.Append(p.Key, p.Value)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		s.All()(yield)
	}
}
