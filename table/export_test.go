package table

// BuildIndex has the search tree built, as many lookups do. It reports whether the index is sound.
func (r *Reader) BuildIndex() bool {
	t, err := r.table()
	return err == nil && t.index.build() != nil
}

// IndexIsBuilt reports whether there is a search tree.
func (r *Reader) IndexIsBuilt() bool {
	t, err := r.table()
	return err == nil && t.index.tree.Load() != nil
}
