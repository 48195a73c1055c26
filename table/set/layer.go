package set

import (
	"bytes"
	"iter"
	"sort"

	"github.com/sievetable/sievetable/table/merge"
)

// A Layer is a change to a set: entries that are added or changed, and keys that are removed. Its key
// ranges may overlap those of other Layers.
type Layer struct {
	// Tables contain the entries that are added or changed, in the order of their keys. They do not
	// overlap.
	Tables []Table

	// Removals contain the keys that are removed, in their order. They do not overlap. Their values are
	// ignored. They must contain the keys, not only a filter. A key that is also in Tables is not
	// removed. A key that the set does not contain may be removed.
	Removals []Table
}

// All returns pointers to all tables in the order of the manifest's file: Tables, then the Tables and Removals
// of each Layer.
func (m *Manifest) All() iter.Seq[*Table] {
	return func(yield func(*Table) bool) {
		for _, run := range m.runs() {
			for i := range run {
				if !yield(&run[i]) {
					return
				}
			}
		}
	}
}

// runs returns the tables, in slices of those that do not overlap.
func (m *Manifest) runs() [][]Table {
	runs := [][]Table{m.Tables}
	for _, l := range m.Layers {
		runs = append(runs, l.Tables, l.Removals)
	}
	return runs
}

// A run is tables whose ranges do not overlap, in the order of their keys.
type run struct {
	members []*member
	ranges  []merge.LevelTable
}

// find returns the number of the only table that can have key, or −1 if key is in no range.
func (r *run) find(key []byte) int {
	i := sort.Search(len(r.ranges), func(i int) bool { return bytes.Compare(r.ranges[i].Largest, key) >= 0 })
	if i == len(r.ranges) || bytes.Compare(r.ranges[i].Smallest, key) > 0 {
		return -1
	}
	return i
}

// member returns the only table that can have key, or nil.
func (r *run) member(key []byte) *member {
	if i := r.find(key); i >= 0 {
		return r.members[i]
	}
	return nil
}

// overlap returns the tables that can have keys ≥ lower and < upper. nil is no bound.
func (r *run) overlap(lower, upper []byte) run {
	from := sort.Search(len(r.ranges), func(i int) bool { return bytes.Compare(r.ranges[i].Largest, lower) >= 0 })
	to := len(r.ranges)
	if upper != nil {
		to = max(from, sort.Search(to, func(i int) bool { return bytes.Compare(r.ranges[i].Smallest, upper) >= 0 }))
	}
	return run{r.members[from:to], r.ranges[from:to]}
}

// A layer is a [Layer] with its tables.
type layer struct{ tables, removals run }

// layers are layers, the newest first. The last one is the base.
type layers []layer
