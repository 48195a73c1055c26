package goleveldb

import (
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/table"
)

// A view is a table.Reader on the file of a Reader, opened when it is first needed. If it cannot
// be opened, the next call tries again.
type view struct {
	options table.ReaderOptions
	opened  atomic.Pointer[table.Reader]

	mu sync.Mutex // to open it
}

// open returns the table.Reader.
func (v *view) open(r *Reader) (*table.Reader, error) {
	if t := v.opened.Load(); t != nil {
		return t, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if t := v.opened.Load(); t != nil {
		return t, nil
	}
	if r.released.Load() {
		return nil, table.ErrClosed
	}
	t, err := table.NewReader(&r.src, r.size, &v.options)
	if err == nil && !v.options.IgnoreFilter && !known(t.Filters(), v.options.FilterPolicies) {
		v.options.IgnoreFilter = true
		err = t.Close()
		if err == nil {
			t, err = table.NewReader(&r.src, r.size, &v.options)
		}
	}
	if err != nil {
		return nil, err
	}
	v.opened.Store(t)
	return t, nil
}

// close closes the table.Reader, if it is open.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t := v.opened.Load(); t != nil {
		// A second Release finds it closed. Nothing else can fail: the file is not the view's.
		_ = t.Close()
	}
}
