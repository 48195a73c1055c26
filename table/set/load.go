package set

import (
	"context"
	"errors"

	"github.com/sievetable/sievetable/internal/openfiles"
)

// A load opens a table once for all that wait for it.
type load struct {
	cancel  context.CancelFunc
	waiting int // the table's mu guards it

	done     chan struct{} // closed after the rest is set
	r        *resident     // with a reference for each that waits
	err      error
	panicked any // what the Source, a policy or a codec panicked with
}

// A ticket is for a table that is open or will be.
type ticket struct {
	m    *member
	r    *resident // nil: wait for load
	load *load     // nil: the table is open, or the ticket was used
}

// request opens the table, unless it is open. It does not wait for it. The caller holds a reference to
// the table, and calls wait or giveUp.
func (m *member) request(ctx context.Context) ticket {
	if r := m.acquireResident(); r != nil {
		return ticket{m: m, r: r}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.acquireResident(); r != nil {
		return ticket{m: m, r: r}
	}
	return m.joinLoad(ctx)
}

// requestAgain is request that opens the table also if it is open. Until it is open again, lookups go on
// with what is open.
func (m *member) requestAgain(ctx context.Context) ticket {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.joinLoad(ctx)
}

// joinLoad waits for the table to be opened, which begins if it has not. The caller holds mu.
func (m *member) joinLoad(ctx context.Context) ticket {
	if m.loading == nil {
		var l load
		ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx)) // it is for others too
		l.done = make(chan struct{})
		m.loading = &l
		m.refs.Acquire()
		go m.run(ctx, &l)
	}
	m.loading.waiting++
	return ticket{m: m, load: m.loading}
}

// wait returns the open table. The caller releases it.
func (t *ticket) wait(ctx context.Context) (*resident, error) {
	r, l := t.r, t.load
	if t.r = nil; r != nil {
		return r, nil
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		t.giveUp()
		return nil, ctx.Err()
	}
	t.load = nil
	if l.panicked != nil {
		panic(l.panicked)
	}
	return l.r, l.err
}

// giveUp ends the waiting. If nobody waits any more, the load ends.
func (t *ticket) giveUp() {
	r, l, m := t.r, t.load, t.m
	*t = ticket{}
	if l != nil {
		m.mu.Lock()
		l.waiting--
		if r = l.r; r == nil && l.waiting == 0 {
			l.cancel()
			if m.loading == l {
				m.loading = nil // the next request begins another load
			}
		}
		m.mu.Unlock()
	}
	if r != nil {
		r.release()
	}
}

// errNoReturn is the error of a load whose goroutine has ended by runtime.Goexit.
var errNoReturn = errors.New("set: the Source ended the goroutine of its caller")

// run opens the table, when it is its turn.
func (m *member) run(ctx context.Context, l *load) {
	var r *resident
	err := errNoReturn
	defer func() { m.finish(l, r, err, recover()) }()
	select {
	case m.s.loads <- struct{}{}:
		defer func() { <-m.s.loads }()
		if r, err = m.file().newResident(ctx); errors.Is(err, ErrReplaced) {
			r, err = m.file().newResident(ctx) // the Source has forgotten what it was
		}
		m.s.closeFailed(m.Name, err)
	case <-ctx.Done():
		err = ctx.Err()
	}
}

// closeFailed closes the file of a table that cannot be opened, if the Source keeps it open. The right
// file may take its name: the next load then finds it.
func (s *Set) closeFailed(name string, err error) {
	if err == nil {
		return
	}
	switch src := s.src.(type) {
	case *Dir:
		src.files.Close(name)
	case *openfiles.Files:
		src.Close(name)
	}
}

// finish gives the result to all that wait. If the load is still wanted, the table is open from now
// on. What it evicts is dropped before anybody goes on: MemorySize holds then.
func (m *member) finish(l *load, r *resident, err error, panicked any) {
	var evicted []*resident
	defer m.release()
	defer close(l.done)
	m.mu.Lock()
	l.err, l.panicked = err, panicked
	current := m.loading == l
	if current {
		m.loading = nil
	}
	switch {
	case r != nil:
		evicted = m.admit(l, r, current)
	case panicked != nil:
		m.noteEnd(m.errorf("opening it panicked: %v", panicked))
	case current: // and somebody waits for it: it was not ended for want of that
		m.noteEnd(err)
	}
	m.mu.Unlock()
	l.cancel()
	for _, e := range evicted {
		e.drop()
	}
	if r != nil {
		r.release()
	}
}

// admit gives the Reader to all that wait, and keeps it if the load is the current one. It returns
// what is evicted for it. The caller holds mu, and one of the references.
func (m *member) admit(l *load, r *resident, current bool) (evicted []*resident) {
	l.r = r
	r.refs.Set(int64(l.waiting) + 1)
	m.s.residents.track(r)
	m.refs.Acquire()
	if !m.checked {
		m.checked, m.first = true, r.epoch
	}
	m.filterErr = r.filterErr
	m.noteEnd(nil)
	if !current || m.versions == 0 {
		return nil
	}
	r.refs.Acquire()
	if old := m.resident.Swap(r); old != nil { // of requestAgain
		m.s.residents.unkeep(old) // which makes room
		evicted = append(evicted, old)
	}
	return append(evicted, m.s.residents.keep(r, m.published)...)
}

// load opens a table to which the caller holds a reference, and releases that.
func (m *member) load(ctx context.Context) (*resident, error) {
	defer m.release()
	t := m.request(ctx)
	return t.wait(ctx)
}

// loadAll opens tables by request, several at a time, and calls each(i, r, err) for members[i] in their
// order. each releases r. An error of each ends loadAll, which returns it.
func (s *Set) loadAll(
	ctx context.Context, members []*member, request func(*member, context.Context) ticket,
	each func(i int, r *resident, err error) error,
) error {
	tickets, requested := make([]ticket, len(members)), 0
	defer func() { // also if wait panics
		for i := range requested {
			tickets[i].giveUp()
		}
	}()
	for i := range tickets {
		for ; requested < min(i+s.o.Concurrency, len(members)); requested++ {
			tickets[requested] = request(members[requested], ctx)
		}
		r, err := tickets[i].wait(ctx)
		if err := each(i, r, err); err != nil {
			return err
		}
	}
	return nil
}
