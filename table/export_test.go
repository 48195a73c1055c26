package table

import "github.com/sievetable/sievetable/table/layout"

// BuildIndex builds the search tree, like many lookups. It reports whether the index is sound.
func (r *Reader) BuildIndex() bool {
	t, err := r.table()
	return err == nil && t.file.Index.Build()
}

// IndexIsBuilt reports whether there is a search tree.
func (r *Reader) IndexIsBuilt() bool {
	t, err := r.table()
	return err == nil && t.file.Index.IsBuilt()
}

// Locate returns the Handle of the only data block that can contain key, or the error that Get returns without
// reading one.
func (r *Reader) Locate(key []byte) (h layout.Handle, err error) {
	t, err := r.table()
	if err == nil {
		err = t.startLookups(1, exact)
	}
	if err != nil {
		return layout.Handle{}, err
	}
	err = t.file.Mapped.Guard(func() error {
		filterKey := filterKeyOf(t.o.FilterKey, key)
		if mayContain, _ := t.sieve.mayContain(wholeTable, filterKey); !mayContain {
			return ErrNotFound
		}
		i, _, err := t.locate(key, filterKey)
		if err != nil {
			return err
		}
		found, err := t.file.Index.Handle(i)
		h = layout.Handle(found)
		return err
	})
	return h, err
}

// A CacheUse has a Cache's counts and size.
type CacheUse struct {
	Evictions uint64
	Blocks    int
	Size      int64
}

// Use returns the Cache's counts and size.
func (c *Cache) Use() (u CacheUse) {
	u.Evictions, u.Blocks, u.Size = c.c.Use()
	return u
}
