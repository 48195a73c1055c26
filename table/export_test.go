package table

import "github.com/sievetable/sievetable/table/layout"

// BuildIndex has the search tree built, as many lookups do. It reports whether the index is sound.
func (r *Reader) BuildIndex() bool {
	t, err := r.table()
	return err == nil && t.file.Index.Build()
}

// IndexIsBuilt reports whether there is a search tree.
func (r *Reader) IndexIsBuilt() bool {
	t, err := r.table()
	return err == nil && t.file.Index.IsBuilt()
}

// Locate returns the Handle of the only data block that can have key. The error is that of Get, if it reads none.
func (r *Reader) Locate(key []byte) (h layout.Handle, err error) {
	t, err := r.table()
	if err == nil {
		err = t.startLookups(1, exact)
	}
	if err != nil {
		return layout.Handle{}, err
	}
	err = t.file.Guard(func() error {
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

// A CacheUse is what a Cache has done and has.
type CacheUse struct {
	Evictions uint64
	Blocks    int
	Size      int64
}

// Use returns what the Cache has done and has.
func (c *Cache) Use() (u CacheUse) {
	u.Evictions, u.Blocks, u.Size = c.c.Use()
	return u
}
