package goleveldb

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/table"
)

// A view is a table.Reader for a Reader's file, opened when it is first needed. If opening fails, the next call
// tries again.
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
	t, err := v.read(r)
	if err != nil {
		return nil, err
	}
	v.opened.Store(t)
	return t, nil
}

func (v *view) read(r *Reader) (*table.Reader, error) {
	t, err := table.NewReader(&r.src, r.size, &v.options)
	if v == &r.ordered && r.order.internal && errors.Is(err, table.ErrOrder) {
		return v.reorder(r, err)
	}
	if err != nil || v.options.IgnoreFilter {
		return t, err
	}
	if known(t.Filters(), v.options.FilterPolicies) && !(r.order.internal && v.rulesOutOwnKeys(t)) {
		return t, nil
	}
	v.options.IgnoreFilter = true
	if err := t.Close(); err != nil {
		return nil, err
	}
	return table.NewReader(&r.src, r.size, &v.options)
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
