package table

import "os"

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

// MapFile maps a file for NewReader, or returns nil.
func MapFile(f *os.File, size int64) SliceReaderAt {
	if m := mapFile(f, size); m != nil {
		return m
	}
	return nil
}
