package set

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/internal/refs"
	"github.com/sievetable/sievetable/table"
)

// A handle is one opening of a table, from the request until its Reader is closed. Each user holds a reference, and
// so does the Set while it keeps the table open. Releasing the last one cancels the opening or closes the Reader.
//
// Single lookups hold no reference: see member.get.
//
// If the Source has forgotten the table since the opening began, its name may now denote another table, so all reads
// of the handle fail.
type handle struct {
	*member
	users  refs.Count
	state  atomic.Int32
	cancel context.CancelFunc // of the opening
	done   chan struct{}      // closed when the opening ends; it sets the next fields

	epoch     int64         // the count of replaced when the opening began
	tail      []byte        // the end of the table while it is being opened: only that is read then
	reader    *table.Reader // nil if there is an error or a panic
	filterErr error         // of the Reader, when the table was opened
	known     bool          // its TailSum distinguishes it from all other tables
	paged     bool          // the table filter is read by the page
	mapped    bool          // lookups do not read through the handle
	err       error
	panicked  any // panic value of the Source, a policy or a codec

	clock.Links[handle]
	touched atomic.Bool  // used since the clock hand last passed
	counted atomic.Int64 // bytes in the Set's size, while it keeps the table open. Its mu guards changes

	limit int32 // filterBits when the opening began
}

// The states of a handle.
const (
	opening = iota // or failed
	opened
	closed // or about to be
)

// ready returns the handle of a table that is kept open, or nil. A table that was replaced since is no longer open.
func (m *member) ready() *handle {
	h := m.kept.Load()
	if h == nil || h.epoch != m.replaced.Load() {
		return nil
	}
	if !h.touched.Load() {
		h.touched.Store(true)
	}
	return h
}

// request starts to open the table, unless it is open, and does not wait. If again is set, an open table is opened
// again, and lookups use the old handle meanwhile. The caller must hold a version that has the table, until it has
// called wait or release.
func (m *member) request(ctx context.Context, again bool) *handle {
	if h := m.ready(); !again && h != nil && h.users.Acquire() {
		return h
	}
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if h := m.ready(); !again && h != nil && h.users.Acquire() {
		return h
	}
	if h := m.loading; h != nil && h.users.Acquire() { // otherwise all users have given up
		return h
	}
	h := &handle{member: m, done: make(chan struct{})}
	h.users.Acquire()
	ctx, h.cancel = context.WithCancel(context.WithoutCancel(ctx)) // others may wait too
	m.loading = h
	m.refs.Acquire()
	go h.run(ctx)
	return h
}

// wait waits until the opening has ended. After an error or a panic, it releases the handle.
func (h *handle) wait(ctx context.Context) error {
	select {
	case <-h.done:
	case <-ctx.Done():
		if h.state.Load() != opened {
			h.release()
			return ctx.Err()
		}
	}
	if h.reader != nil {
		return nil
	}
	defer h.release()
	if h.panicked != nil {
		panic(h.panicked)
	}
	return h.err
}

// errNoReturn is the error if runtime.Goexit has ended the opening's goroutine.
var errNoReturn = errors.New("set: the Source called runtime.Goexit")

// run opens the table, when it is its turn.
func (h *handle) run(ctx context.Context) {
	h.err = errNoReturn
	defer func() { h.finish(recover()) }()
	select {
	case h.s.loads <- struct{}{}:
		defer func() { <-h.s.loads }()
		if h.err = h.open(ctx); errors.Is(h.err, ErrReplaced) {
			h.err = h.open(ctx) // the Source has forgotten the old table
		}
		if h.err != nil { // so that the next opening finds a file that is put back
			closeFile(h.s.src, h.Name)
		}
	case <-ctx.Done():
		h.err = ctx.Err()
	}
}

// finish ends the opening. If somebody still waits for it, the table is open from now on. The tables that it evicts
// are released before the waiters continue, so that MemorySize holds.
func (h *handle) finish(panicked any) {
	m := h.member
	defer m.unref()
	h.panicked = panicked
	m.s.mu.Lock()
	wanted := h.users.Acquire()
	if m.loading == h {
		m.loading = nil
	}
	var evicted []*handle
	switch {
	case h.reader != nil:
		evicted = h.admit(wanted)
	case panicked != nil:
		m.recordResult(m.errorf("opening panicked: %v", panicked))
	case wanted:
		m.recordResult(h.err)
	}
	m.s.mu.Unlock()
	h.cancel()
	releaseAll(evicted)
	if h.reader != nil && !h.state.CompareAndSwap(opening, opened) {
		h.reader.Close() // release came first
	}
	if wanted {
		h.release() // before the waiters continue, so that a table that they evict is closed at once
	}
	close(h.done)
}

// admit records that the table was opened and, if wanted, keeps it open. It returns the handles evicted for it. The
// caller holds mu.
func (h *handle) admit(wanted bool) (evicted []*handle) {
	m := h.member
	m.filterErr = h.filterErr
	m.recordResult(nil)
	if !wanted {
		return nil
	}
	if m.first == notOpened {
		m.first = h.epoch
	}
	m.s.handles[h] = struct{}{}
	if m.versions == 0 {
		return nil
	}
	return m.s.keep(h)
}

// release drops a reference, if h is not nil. It must not be called with a mutex held.
func (h *handle) release() {
	if h == nil {
		return
	}
	h.recount()
	if !h.users.Release() {
		return
	}
	h.s.mu.Lock()
	delete(h.s.handles, h)
	h.s.mu.Unlock()
	h.cancel()
	if h.state.Swap(closed) == opened {
		h.reader.Close() // closes no file
	}
}

// load opens the table, unless it is open, and waits for it. The caller releases it.
func (m *member) load(ctx context.Context) (*handle, error) {
	h := m.request(ctx, false)
	return h, h.wait(ctx)
}

// loadAll opens tables by request, several at a time, and calls each(i, h, err) for members[i] in order. If err is
// nil, each must release h. If each returns an error, loadAll stops and returns it.
func (s *Set) loadAll(
	ctx context.Context, members []*member, again bool, each func(i int, h *handle, err error) error,
) error {
	handles, requested := make([]*handle, len(members)), 0
	defer func() { releaseAll(handles) }() // also if wait panics
	for i := range handles {
		for ; requested < min(i+s.o.Concurrency, len(members)); requested++ {
			handles[requested] = members[requested].request(ctx, again)
		}
		h := handles[i]
		handles[i] = nil
		if err := each(i, h, h.wait(ctx)); err != nil {
			return err
		}
	}
	return nil
}
