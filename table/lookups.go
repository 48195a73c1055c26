package table

import "context"

// LookupOptions are options of lookups. The zero value of each field is its default.
type LookupOptions struct {
	// Context ends the reads of a lookup. If it is done, the lookup returns its error, which
	// errors.Is finds, and begins no read. From a [ContextReaderAt] the lookup reads by
	// ReadAtContext, and returns when that does. It waits for the ReadAt of any other source.
	// nil: reads end when the source ends them.
	Context context.Context

	// NoFill leaves blocks that lookups read out of the Cache. Set it if these blocks will
	// not be needed again soon, as in a check of all keys. Blocks that are in the Cache
	// already are used.
	NoFill bool
}

// Lookups are the lookups of a Reader with options. Each is the Reader's method of the same
// name, which has the default options. [Reader.With] returns Lookups. They are safe for
// concurrent use, and cost nothing to make: they are a value of some words.
type Lookups struct {
	r *Reader
	o LookupOptions
	t *openTable // of r; set by start
}

// With returns the lookups of the Reader with options.
func (r *Reader) With(o LookupOptions) Lookups { return Lookups{r: r, o: o} }

// Get is [Reader.Get] with the options.
func (l Lookups) Get(key []byte) ([]byte, error) {
	i, filterChecked, err := l.locate(key)
	if err != nil {
		return nil, err
	}
	var d dataBlock
	value, err := l.get(&d, i, key, filterChecked)
	if err == nil {
		value = d.keepValue(value)
	}
	d.release()
	return value, err
}

// AppendGet is [Reader.AppendGet] with the options.
func (l Lookups) AppendGet(dst, key []byte) ([]byte, error) {
	i, filterChecked, err := l.locate(key)
	if err != nil {
		return dst, err
	}
	var d dataBlock
	value, err := l.get(&d, i, key, filterChecked)
	switch {
	case err != nil:
	case len(dst) == 0 && cap(dst) < len(value) && d.buffers != nil:
		dst = d.keepValue(value) // does not copy a large value
	default:
		dst = append(dst, value...)
	}
	d.release()
	return dst, err
}

// Find is [Reader.Find] with the options.
func (l Lookups) Find(key []byte) (k, v []byte, err error) {
	var d dataBlock
	if k, v, err = l.find(&d, key); err == nil {
		k, v = d.keepEntry(k, v)
	}
	d.release()
	return k, v, err
}

// AppendFind is [Reader.AppendFind] with the options.
func (l Lookups) AppendFind(dstKey, dstValue, key []byte) (k, v []byte, err error) {
	d := dataBlock{borrowsKey: true}
	k, v, err = l.find(&d, key)
	dstKey, dstValue = append(dstKey, k...), append(dstValue, v...) // after an error there are none
	d.release()
	return dstKey, dstValue, err
}

// FindGE is [Reader.FindGE] with the options.
func (l Lookups) FindGE(key []byte) (k, v []byte, err error) {
	var d dataBlock
	if k, v, err = l.findGE(&d, key); err == nil {
		k, v = d.keepEntry(k, v)
	}
	d.release()
	return k, v, err
}

// start begins a lookup, and returns an error if there cannot be any.
func (l *Lookups) start() error {
	if l.o.Context != nil {
		if err := l.o.Context.Err(); err != nil {
			return err
		}
	}
	var err error
	if l.t, err = l.r.table(); err != nil {
		return err
	}
	return l.t.startLookups(1)
}

// locate returns the only data block that can have key, and whether a filter was checked.
// The error is ErrNotFound if filters or index rule key out.
func (l *Lookups) locate(key []byte) (i int, filterChecked bool, err error) {
	if err := l.start(); err != nil {
		return 0, false, err
	}
	r := l.t
	filterKey := filterKeyOf(r.o.FilterKey, key)
	mayContain, tableChecked := r.tableMayContain(filterKey)
	if !mayContain {
		return 0, true, ErrNotFound
	}
	if i = r.index.search(key); i == r.index.len() {
		return 0, tableChecked, r.notInIndex()
	}
	mayContain, blockChecked := r.blockMayContain(i, filterKey)
	if !mayContain {
		return 0, true, ErrNotFound
	}
	return i, tableChecked || blockChecked, nil
}

// get sets d to data block i, and returns the value of key, which is valid until d is released.
// The caller releases d.
func (l *Lookups) get(d *dataBlock, i int, key []byte, filterChecked bool) ([]byte, error) {
	if err := d.openForLookup(l, i); err != nil {
		return nil, err
	}
	return d.lookup(l.t, key, filterChecked)
}
