// Package dbread contains the parts that readers of databases and of sets share.
package dbread

import (
	"slices"
	"sort"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A Run contains tables whose ranges do not overlap, in key order: the tables of a level, or one of level 0. A table
// with an unknown range is a Run of its own.
type Run[T any] struct {
	Tables []T
	Ranges []merge.LevelTable // of Tables
}

// Insert adds a table and returns true, unless its range overlaps another table's. If the range is unknown, Smallest
// and Largest are nil, and the table must be the first one.
func (r *Run[T]) Insert(order table.Comparer, t T, keys merge.LevelTable) bool {
	if len(r.Tables) > 0 && (keys.Smallest == nil || !r.IsKnown()) {
		return false
	}
	i := r.search(order, keys.Smallest)
	if i < len(r.Ranges) && order.Compare(r.Ranges[i].Smallest, keys.Largest) <= 0 {
		return false
	}
	r.Tables, r.Ranges = slices.Insert(r.Tables, i, t), slices.Insert(r.Ranges, i, keys)
	return true
}

// IsKnown reports whether the ranges are known.
func (r *Run[T]) IsKnown() bool { return r.Ranges[0].Smallest != nil }

// Find returns which tables can have versions of a user key: Tables[from:to]. seek is the stored key of the newest
// version, and user returns the user key of a stored key. If any of these tables has a version, the first one has
// the newest.
func (r *Run[T]) Find(order, users table.Comparer, user func(stored []byte) []byte, seek []byte) (from, to int) {
	if !r.IsKnown() {
		return 0, 1
	}
	from = r.search(order, seek)
	for to = from; to < len(r.Ranges) && users.Compare(user(r.Ranges[to].Smallest), user(seek)) <= 0; {
		to++
	}
	return from, to
}

// search returns the number of the first table whose largest key is >= key, a stored key.
func (r *Run[T]) search(order table.Comparer, key []byte) int {
	return sort.Search(len(r.Ranges), func(i int) bool { return order.Compare(r.Ranges[i].Largest, key) >= 0 })
}

// Iter returns an Iterator over the stored keys of the tables that can have keys >= lower and < upper, or nil if
// there are none. A nil bound means no bound. The ranges must be known, and an invalid range is an error. open opens
// a table when the Iterator reaches it. A key outside its table's range fails the move.
func (r *Run[T]) Iter(order table.Comparer, lower, upper []byte, open func(T) (merge.Iterator, error)) (merge.Iterator, error) {
	from, to := 0, len(r.Ranges)
	if lower != nil {
		from = r.search(order, lower)
	}
	if upper != nil {
		to = sort.Search(to, func(i int) bool { return order.Compare(r.Ranges[i].Smallest, upper) >= 0 })
	}
	if from >= to {
		return nil, nil
	}
	tables := r.Tables[from:to]
	return merge.NewLevelIter(order, r.Ranges[from:to], func(i int) (merge.Iterator, error) { return open(tables[i]) })
}
