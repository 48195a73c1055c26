package set

import (
	"container/ring"
	"context"
	"errors"
	"sync/atomic"

	"github.com/sievetable/sievetable/table"
)

// An opened is the Reader of a table that is open. Its users are lookups and Iters, and the table
// until it drops the Reader and no lookup is in a stripe.
type opened struct {
	m         *member
	r         *table.Reader
	epoch     int64 // of the file that r reads
	filterErr error // of r, when it was opened
	users     users
	touched   atomic.Bool // used since memory came by

	stripes atomic.Pointer[[stripes]stripe] // nil until there are lookups at the same time
	dropped atomic.Bool
	ended   atomic.Bool // the table's use

	// What memory knows. Its mu guards place, and who sets counted.
	place   *ring.Ring   // nil if the table is not kept open
	counted atomic.Int64 // bytes
}

// release ends a use. The last one closes the Reader.
func (o *opened) release() {
	o.recount()
	o.endUse()
}

// recount counts the memory of a Reader that was used, if there is a bound. That can close tables.
func (o *opened) recount() {
	if o.m.s.memory.bound > 0 {
		o.m.s.memory.recount(o)
	}
}

// endUse is release of a Reader whose memory was counted.
func (o *opened) endUse() {
	if !o.users.release() {
		return
	}
	defer o.m.release()
	o.m.s.memory.end(o)
	o.r.Close() // closes no file
}

// drop ends that the table keeps the Reader open, which is not in m.opened any more. It must not
// be called with a mutex held.
func (o *opened) drop() {
	o.m.s.memory.remove(o)
	o.dropped.Store(true)
	o.endStripes()
}

// touch notes that the table is used.
func (o *opened) touch() {
	if !o.touched.Load() {
		o.touched.Store(true)
	}
}

// acquireOpened returns the open Reader with one more user, or nil if the table is not open.
func (m *member) acquireOpened() *opened {
	o := m.opened.Load()
	if o == nil || !o.users.acquire() {
		return nil
	}
	o.touch()
	return o
}

// An opening opens a table for all that wait for it.
type opening struct {
	cancel  context.CancelFunc
	waiting int // the table's mu guards it

	done     chan struct{} // closed after the rest is set
	o        *opened       // with a user for each that waits
	err      error
	panicked any // what the Source, a policy or a codec panicked with
}

// A ticket is for a table that is open or will be.
type ticket struct {
	m  *member
	o  *opened  // nil: wait for op
	op *opening // nil: the table is open, or the ticket was used
}

// begin opens the table, unless it is open. It does not wait for it. The caller is a user of
// the table, and calls wait or giveUp.
func (m *member) begin(ctx context.Context) ticket {
	if o := m.acquireOpened(); o != nil {
		return ticket{m: m, o: o}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.acquireOpened(); o != nil {
		return ticket{m: m, o: o}
	}
	if m.opening == nil {
		var op opening
		ctx, op.cancel = context.WithCancel(context.WithoutCancel(ctx)) // it is for others too
		op.done = make(chan struct{})
		m.opening = &op
		m.users.acquire()
		go m.runOpening(ctx, &op)
	}
	m.opening.waiting++
	return ticket{m: m, op: m.opening}
}

// wait returns the open table. The caller releases it.
func (t *ticket) wait(ctx context.Context) (*opened, error) {
	o, op := t.o, t.op
	if t.o = nil; o != nil {
		return o, nil
	}
	select {
	case <-op.done:
	case <-ctx.Done():
		t.giveUp()
		return nil, ctx.Err()
	}
	t.op = nil
	if op.panicked != nil {
		panic(op.panicked)
	}
	return op.o, op.err
}

// giveUp ends the waiting. If nobody waits any more, the opening ends.
func (t *ticket) giveUp() {
	o, op, m := t.o, t.op, t.m
	*t = ticket{}
	if op != nil {
		m.mu.Lock()
		op.waiting--
		if o = op.o; o == nil && op.waiting == 0 {
			op.cancel()
			if m.opening == op {
				m.opening = nil // the next user opens it again
			}
		}
		m.mu.Unlock()
	}
	if o != nil {
		o.release()
	}
}

// errNoReturn is the error of an opening whose goroutine has ended by runtime.Goexit.
var errNoReturn = errors.New("set: the Source ended the goroutine of its caller")

// runOpening opens the table, when it is its turn.
func (m *member) runOpening(ctx context.Context, op *opening) {
	var o *opened
	err := errNoReturn
	defer func() { m.endOpening(op, o, err, recover()) }()
	select {
	case m.s.opens <- struct{}{}:
		defer func() { <-m.s.opens }()
		if o, err = m.file().openReader(ctx); errors.Is(err, ErrReplaced) {
			o, err = m.file().openReader(ctx) // the Source has forgotten what it was
		}
		m.s.closeFailed(m.Name, err)
	case <-ctx.Done():
		err = ctx.Err()
	}
}

// closeFailed closes the file of a table that cannot be opened, if the Source keeps it open. The right
// file may take its name: the next opening then finds it.
func (s *Set) closeFailed(name string, err error) {
	if err == nil {
		return
	}
	switch src := s.src.(type) {
	case *Dir:
		src.files.close(name)
	case *fileCache:
		src.close(name)
	}
}

// endOpening gives the result to all that wait. If the opening is still wanted, the table is
// open from now on. Those that it closes have ended before anybody goes on: MemorySize holds then.
func (m *member) endOpening(op *opening, o *opened, err error, panicked any) {
	var evicted []*opened
	defer m.release()
	defer close(op.done)
	m.mu.Lock()
	op.err, op.panicked = err, panicked
	current := m.opening == op
	if current {
		m.opening = nil
	}
	if o != nil {
		op.o = o
		o.users.n.Store(int64(op.waiting) + 1)
		m.s.memory.begin(o)
		m.users.acquire()
		if !m.checked {
			m.checked, m.first = true, o.epoch
		}
		m.filterErr = o.filterErr
		if current && m.versions > 0 {
			o.users.acquire()
			m.opened.Store(o)
			evicted = m.s.memory.add(o)
		}
	}
	m.mu.Unlock()
	op.cancel()
	for _, evicted := range evicted {
		evicted.drop()
	}
	if o != nil {
		o.release()
	}
}

// openAll opens tables, several at a time, and calls each(i, o, err) for members[i] in their
// order. each releases o. An error of each ends openAll, which returns it.
func (s *Set) openAll(ctx context.Context, members []*member, each func(i int, o *opened, err error) error) error {
	tickets, begun := make([]ticket, len(members)), 0
	defer func() { // also if wait panics
		for i := range begun {
			tickets[i].giveUp()
		}
	}()
	for i := range tickets {
		for ; begun < min(i+s.o.Concurrency, len(members)); begun++ {
			tickets[begun] = members[begun].begin(ctx)
		}
		o, err := tickets[i].wait(ctx)
		if err := each(i, o, err); err != nil {
			return err
		}
	}
	return nil
}
