package table

import "context"

// LookupOptions are options of lookups. The zero value of each field is its default.
type LookupOptions struct {
	// DontFillCache leaves blocks that lookups read out of the Cache. Set it if these blocks will
	// not be needed again soon, as in a check of all keys. Blocks that are in the Cache
	// already are used.
	DontFillCache bool
}

// Lookups are the lookups of single keys of a Reader, with options. Each is the Reader's method
// of the same name, which has the default options. [Reader.With] returns Lookups; the zero value
// has no Reader, and must not be used. They are safe for concurrent use. Making them does not
// allocate.
type Lookups struct {
	r *Reader
	o lookupOptions
}

// With returns the lookups of the Reader with options, whose reads ctx ends. If ctx is done before
// the last read of a lookup has ended, the lookup returns the error of ctx, which errors.Is finds,
// and begins no further read. From a [ContextReaderAt] it reads by ReadAtContext, and returns when
// that does. It waits for the ReadAt of any other source, such as a file.
func (r *Reader) With(ctx context.Context, o LookupOptions) Lookups {
	return Lookups{r, lookupOptions{ctx: ctx, noFill: o.DontFillCache}}
}

// lookupOptions are the options of one lookup, and the context of its reads.
type lookupOptions struct {
	ctx    context.Context // nil: reads end when the source ends them
	noFill bool            // do not add blocks to the Cache

	entered bool // a mapped file is entered
}

// noOptions are the options of the Reader's own lookups.
var noOptions lookupOptions

// Get is [Reader.Get] with the options.
func (l Lookups) Get(key []byte) ([]byte, error) {
	t, err := l.r.startLookup(&l.o)
	if err != nil {
		return nil, err
	}
	return t.get(&l.o, key, nil)
}

// AppendGet is [Reader.AppendGet] with the options.
func (l Lookups) AppendGet(dst, key []byte) ([]byte, error) {
	return l.r.appendGet(&l.o, dst, key)
}

// NewIter is [Reader.NewIter] with the context: when that is done, a move that needs a read fails with its
// error. DontFillCache of either options is enough.
func (l Lookups) NewIter(o *IterOptions) *Iter {
	it := l.r.NewIter(o)
	it.ctx, it.c.noFill = l.o.ctx, it.c.noFill || l.o.noFill
	return it
}

// Find is [Reader.Find] with the options.
func (l Lookups) Find(key []byte) (k, v []byte, err error) { return l.r.find(&l.o, key, nil) }

// AppendFind is [Reader.AppendFind] with the options.
func (l Lookups) AppendFind(dstKey, dstValue, key []byte) (k, v []byte, err error) {
	return l.r.appendFind(&l.o, dstKey, dstValue, key)
}

// FindGE is [Reader.FindGE] with the options.
func (l Lookups) FindGE(key []byte) (k, v []byte, err error) { return l.r.findGE(&l.o, key) }

// startLookup counts a lookup, and returns the table. The error says why there cannot be any.
func (r *Reader) startLookup(o *lookupOptions) (*openTable, error) {
	if o.ctx != nil {
		if err := o.ctx.Err(); err != nil {
			return nil, err
		}
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	return t, t.startLookups(1)
}
