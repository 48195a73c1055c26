package set

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// A load opens a table once for all that wait for it.
type load struct {
	m       *member
	cancel  context.CancelFunc
	waiting int // the Set's mu guards it

	done     chan struct{} // closed after the rest is set
	r        *resident     // with a reference for each that waits
	err      error
	panicked any // what the Source, a policy or a codec panicked with
}

// A ticket is for a table that is open or will be. The zero ticket was used.
type ticket struct {
	r    *resident // nil: wait for load
	load *load
}

// request opens the table, unless it is open. With again, it opens the table also then: until it is open again,
// lookups go on with what is open. request does not wait for it. The caller calls wait or giveUp, and meanwhile
// has a version of the table.
func (m *member) request(ctx context.Context, again bool) ticket {
	if r := m.open(); !again && r != nil && r.refs.Acquire() {
		return ticket{r: r}
	}
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if r := m.open(); !again && r != nil && r.refs.Acquire() {
		return ticket{r: r}
	}
	if m.loading == nil {
		l := &load{m: m, done: make(chan struct{})}
		ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx)) // it is for others too
		m.loading = l
		m.refs.Acquire()
		go l.run(ctx)
	}
	m.loading.waiting++
	return ticket{load: m.loading}
}

// wait returns the open table. The caller releases it.
func (t *ticket) wait(ctx context.Context) (*resident, error) {
	r, l := t.r, t.load
	if l == nil {
		*t = ticket{}
		return r, nil
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		t.giveUp()
		return nil, ctx.Err()
	}
	*t = ticket{}
	if l.panicked != nil {
		panic(l.panicked)
	}
	return l.r, l.err
}

// giveUp ends the waiting. If nobody waits any more, the load ends.
func (t *ticket) giveUp() {
	r, l := t.r, t.load
	*t = ticket{}
	if l != nil {
		s := l.m.s
		s.mu.Lock()
		if l.waiting--; l.waiting == 0 && l.r == nil {
			l.cancel()
			if l.m.loading == l {
				l.m.loading = nil // the next request begins another load
			}
		}
		r = l.r
		s.mu.Unlock()
	}
	r.release()
}

// errNoReturn is the error of a load whose goroutine has ended by runtime.Goexit.
var errNoReturn = errors.New("set: the Source ended the goroutine of its caller")

// run opens the table, when it is its turn.
func (l *load) run(ctx context.Context) {
	var r *resident
	err := errNoReturn
	defer func() { l.finish(r, err, recover()) }()
	s := l.m.s
	select {
	case s.loads <- struct{}{}:
		defer func() { <-s.loads }()
		if r, err = l.m.file().newResident(ctx); errors.Is(err, ErrReplaced) {
			r, err = l.m.file().newResident(ctx) // the Source has forgotten what it was
		}
		if err != nil { // the right file may take the name: the next load then finds it
			closeFile(s.src, l.m.Name)
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
}

// finish gives the result to all that wait. If the load is still wanted, the table is open from now
// on. What it evicts is released before anybody goes on: MemorySize holds then.
func (l *load) finish(r *resident, err error, panicked any) {
	m := l.m
	defer m.release()
	defer close(l.done)
	m.s.mu.Lock()
	l.err, l.panicked = err, panicked
	current := m.loading == l // and somebody waits for it: it was not ended for want of that
	if current {
		m.loading = nil
	}
	var evicted []*resident
	switch {
	case r != nil:
		evicted = l.admit(r, current)
	case panicked != nil:
		m.noteEnd(m.errorf("opening it panicked: %v", panicked))
	case current:
		m.noteEnd(err)
	}
	m.s.mu.Unlock()
	l.cancel()
	releaseAll(evicted)
	r.release()
}

// admit gives the Reader to all that wait, and keeps it if the load is the current one. It returns
// what is evicted for it. The caller holds mu, and one of the references.
func (l *load) admit(r *resident, current bool) (evicted []*resident) {
	l.r = r
	r.refs.Set(int64(l.waiting) + 1)
	m := l.m
	m.s.readers[r] = struct{}{}
	if m.first == notOpened {
		m.first = r.epoch
	}
	m.filterErr = r.filterErr
	m.noteEnd(nil)
	if !current || m.versions == 0 {
		return nil
	}
	return m.s.keep(r)
}

// noteEnd notes how the last opening or read has ended.
func (m *member) noteEnd(err error) {
	if err != nil {
		m.failed.Store(&err)
	} else if m.failed.Load() != nil { // it seldom is: the memory stays shared by all processors
		m.failed.Store(nil)
	}
}

// load opens the table, unless it is open, and waits for it. The caller releases it.
func (m *member) load(ctx context.Context) (*resident, error) {
	t := m.request(ctx, false)
	return t.wait(ctx)
}

// loadAll opens tables by request, several at a time, and calls each(i, r, err) for members[i] in their order. each
// releases r. An error of each ends loadAll, which returns it.
func (s *Set) loadAll(
	ctx context.Context, members []*member, again bool, each func(i int, r *resident, err error) error,
) error {
	tickets, requested := make([]ticket, len(members)), 0
	defer func() { // also if wait panics
		for i := range requested {
			tickets[i].giveUp()
		}
	}()
	for i := range tickets {
		for ; requested < min(i+s.o.Concurrency, len(members)); requested++ {
			tickets[requested] = members[requested].request(ctx, again)
		}
		r, err := tickets[i].wait(ctx)
		if err := each(i, r, err); err != nil {
			return err
		}
	}
	return nil
}

// ErrMismatch is wrapped by the error for a table that differs from its line in the manifest. The table was
// replaced or is corrupt, or the manifest belongs to other tables.
//
// For a corrupt footer or index, the error is a [*table.CorruptionError], which wraps [table.ErrCorrupt].
// For a missing table, it is the Source's error, such as fs.ErrNotExist from a [Dir].
var ErrMismatch = errors.New(
	"table does not match the manifest: take another copy of the table, or write the manifest again")

// mismatch returns an error about a field of the table's line in the manifest.
func (t *Table) mismatch(field, format string, args ...any) error {
	return fmt.Errorf("set: table %q: %s: %s: %w", t.Name, field, fmt.Sprintf(format, args...), ErrMismatch)
}

// errorf returns another error about the table.
func (t *Table) errorf(format string, args ...any) error {
	return fmt.Errorf("set: table %q: %w", t.Name, fmt.Errorf(format, args...))
}

// check compares an open table with its line in the manifest. It reads nothing but the tail, so that
// only Verify can say that all is well. known is that of identify.
func (f *file) check(r *table.Reader) (known bool, err error) {
	layout, err := r.Layout()
	if err != nil {
		return false, err
	}
	known, err = f.identify(layout)
	return known, cmp.Or(err, f.checkEntries(r), f.checkRange(r, layout.Data))
}

// identify compares the TailSum of the table with the manifest. known says whether that tells the table
// from all others.
func (f *file) identify(l *layout.Layout) (known bool, err error) {
	sum, withData, err := l.TailSum()
	if f.TailSum == "" && errors.Is(err, table.ErrCorrupt) {
		return false, nil // nothing is compared, and FilterErr or Verify reports the damage
	}
	if err != nil {
		return false, err
	}
	if got := hex.EncodeToString(sum[:]); f.TailSum != "" && got != f.TailSum {
		return false, f.mismatch("tailSum", "that of the table is %s, want %s", got, f.TailSum)
	}
	known = withData && f.TailSum != ""
	f.s.mu.Lock()
	wasReplaced := f.first != notOpened && f.epoch != f.first // the Source has forgotten the first one
	f.s.mu.Unlock()
	if !known && wasReplaced {
		err = f.errorf("%w, and it has no digest of its data blocks to tell it from others", ErrReplaced)
	}
	return known, err
}

// checkEntries compares the number of entries with the properties, if the table has any.
// Damaged properties do not matter to lookups: Verify reports them.
func (m *member) checkEntries(r *table.Reader) error {
	p, err := r.Properties()
	if err != nil {
		return nil
	}
	entries := p.Entries
	if r.FilterOnly() {
		entries = p.FilterEntries
	}
	if entries != m.Entries {
		return m.mismatch("entries", "the table has %d, want %d", entries, m.Entries)
	}
	return nil
}

// checkRange compares the range of keys with the index and the filters: Smallest must be in the first
// data block and Largest in the last one.
func (m *member) checkRange(r *table.Reader, blocks []layout.IndexEntry) error {
	const denied = "the filters of the table deny its key %s"
	n := len(blocks)
	switch {
	case n == 0 && !r.FilterOnly():
		return m.mismatch("entries", "the table has none, want %d", m.Entries)
	case n > 0 && bytes.Compare(blocks[0].Separator, m.Smallest) < 0:
		return m.mismatch("smallest", "the first data block has keys ≤ %s, want %s in it",
			format.Quote(blocks[0].Separator), format.Quote(m.Smallest))
	case n > 0 && bytes.Compare(blocks[n-1].Separator, m.Largest) < 0:
		return m.mismatch("largest",
			"all keys are ≤ %s, want %s among them", format.Quote(blocks[n-1].Separator), format.Quote(m.Largest))
	case n > 1 && bytes.Compare(blocks[n-2].Separator, m.Largest) >= 0:
		return m.mismatch("largest", "the last data block has keys > %s, want %s in it",
			format.Quote(blocks[n-2].Separator), format.Quote(m.Largest))
	case !r.MayContain(m.Smallest):
		return m.mismatch("smallest", denied, format.Quote(m.Smallest))
	case !r.MayContain(m.Largest):
		return m.mismatch("largest", denied, format.Quote(m.Largest))
	}
	return nil
}
