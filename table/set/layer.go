package set

import "iter"

// A Layer is what changes in a set: what is added, or has another value, and what is removed. The
// ranges of its tables overlap those of other Layers.
type Layer struct {
	// Tables have the entries that are added, and those that take the place of older ones. They are
	// in the order of their keys, and do not overlap.
	Tables []Table

	// Removals are tables of the keys that are removed. They are in the order of their keys, and do
	// not overlap. They have the whole keys, and their values do not matter. A key that is in Tables
	// too is not removed. A key that the set does not have may be removed.
	Removals []Table
}

// All returns all tables: Tables first, and then those of each of the Layers with its Removals behind.
// The order is that of the manifest's file. The Tables are parts of m.
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
