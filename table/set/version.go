package set

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A version is a manifest and its tables. Lookups and Iters use the Set's current version. A retired version ends
// with its last use, and then leaves its tables.
//
// Uses are counted in several stripes, since goroutines would contend for a single counter.
type version struct {
	manifest *Manifest
	tables   []*Table  // all tables of the manifest, in the order of All
	members  []*member // the same
	layers   layers    // the newest first. The last one is the manifest's Tables
	plan     []int32   // the number of bits that each filter may keep; nil without FilterMemory

	stripes [stripes]stripe
	retired atomic.Bool
	ended   atomic.Bool
}

const (
	stripesLg = 6 // log2 of stripes
	stripes   = 1 << stripesLg
)

// A stripe counts uses. It is two cache lines long, so that processors do not share one.
type stripe struct {
	n atomic.Int64
	_ [128 - 8]byte
}

// A use of a version keeps it from ending. Any goroutine may release it.
type use struct {
	*version
	stripe *stripe
}

// acquire returns a use of the current version. After Close it returns [table.ErrClosed].
func (s *Set) acquire() (use, error) {
	for {
		v := s.current.Load()
		if v == nil {
			return use{}, table.ErrClosed
		}
		if u, ok := v.use(); ok {
			return u, nil
		}
	}
}

// use begins a use, unless the version is retired: then there is a newer one. It checks that after counting the use,
// since the version can be retired in between.
func (v *version) use() (u use, ok bool) {
	u = use{v, &v.stripes[ownStripe()]}
	u.stripe.n.Add(1)
	if v.retired.Load() {
		u.release()
		return use{}, false
	}
	return u, true
}

// ownStripe returns the index of a stripe, most often another one in another goroutine: it is a hash of the address
// of the goroutine's stack, which has at least 2 KiB.
func ownStripe() uintptr {
	var here byte
	const golden = 0x9E3779B97F4A7C15 // it mixes all bits into the upper ones
	return uintptr(uint64(uintptr(unsafe.Pointer(&here))>>11) * golden >> (64 - stripesLg))
}

// release ends the use. It must not be called with a mutex held.
func (u use) release() {
	u.stripe.n.Add(-1)
	if u.retired.Load() {
		u.end()
	}
}

// retire ends the version as soon as it is unused.
func (v *version) retire() {
	v.retired.Store(true)
	v.end()
}

// end leaves the tables of a retired version if it is unused. No use begins any more, since use sees that the
// version is retired. So stripes that are found empty one after another are all empty.
func (v *version) end() {
	for i := range v.stripes {
		if v.stripes[i].n.Load() != 0 {
			return
		}
	}
	if !v.ended.CompareAndSwap(false, true) {
		return
	}
	for _, m := range slices.Backward(v.members) {
		defer m.leave() // all of them, even if a Forgetter panics
	}
}

// newVersion returns a version of m. Tables that the Set already has are shared.
func (s *Set) newVersion(ctx context.Context, m *Manifest) (*version, error) {
	v := &version{manifest: m, layers: make(layers, 1+len(m.Layers))}
	for i, tables := range m.runs() { // Tables, and then Tables and Removals of each Layer
		l := &v.layers[len(m.Layers)-(i+1)/2]
		r := &l.tables
		if i > 0 && i%2 == 0 {
			r = &l.removals
		}
		r.Tables, r.Ranges = make([]*member, 0, len(tables)), make([]merge.LevelTable, 0, len(tables))
		for i := range tables {
			t := &tables[i]
			m, err := s.member(ctx, t)
			if err != nil {
				v.retire()
				return nil, err
			}
			v.tables, v.members = append(v.tables, t), append(v.members, m)
			r.Tables = append(r.Tables, m)
			r.Ranges = append(r.Ranges, merge.LevelTable{Name: t.Name, Smallest: t.Smallest, Largest: t.Largest})
		}
	}
	if s.o.FilterMemory > 0 {
		v.plan = s.planFilters(v.tables)
		s.mu.Lock()
		defer s.mu.Unlock()
		v.limitFilters(true)
	}
	return v, nil
}

// Swap makes m the manifest in use. Tables that both manifests list stay open, except as FilterMemory says, and their
// blocks stay cached. With OpenAll, Swap first opens the new tables: twice the memory if all are new, within
// MemorySize. If Swap fails, or ctx is done, the old manifest stays in use. Running lookups and Iters keep the old
// manifest: see Drain. If another table in use has a new table's name, Swap fails. Concurrent Swaps wait for each
// other.
func (s *Set) Swap(ctx context.Context, m *Manifest) error {
	select {
	case s.swapping <- struct{}{}:
		defer func() { <-s.swapping }()
	case <-ctx.Done():
		return ctx.Err()
	}
	m, err := m.checkedCopy()
	if err != nil {
		return err
	}
	return s.change(ctx, m)
}

// change makes m the manifest in use. m is checked and must not change.
func (s *Set) change(ctx context.Context, m *Manifest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v, err := s.newVersion(ctx, m)
	if err != nil {
		return err
	}
	defer func() { // also if the Source panics
		if s.current.Load() != v {
			v.retire()
		}
	}()
	if s.o.OpenAll {
		if err := s.openNew(ctx, v); err != nil {
			return err
		}
	}
	return s.publish(v)
}

// openNew opens the tables of v that were never opened. If one cannot be opened, OnLoss may continue without it,
// unless its filter's policy is missing: later tries would fail too.
func (s *Set) openNew(ctx context.Context, v *version) error {
	var unopened []*member
	s.mu.Lock()
	for _, m := range v.members {
		if m.first == notOpened {
			unopened = append(unopened, m)
		}
	}
	s.mu.Unlock()
	return s.loadAll(ctx, unopened, false, func(i int, h *handle, err error) error {
		if err == nil {
			if errors.Is(h.filterErr, table.ErrUnknownFilter) {
				err = h.filterErr
			}
			h.release()
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, table.ErrUnknownFilter):
			return fmt.Errorf("%w: add the policy to Reader.TableFilterPolicies of the set's Options", err)
		case s.o.OnLoss != nil && s.o.OnLoss(v.loss(unopened[i], err)):
			return nil
		}
		return err
	})
}

// publish makes v the current version.
func (s *Set) publish(v *version) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return table.ErrClosed
	}
	old := s.current.Swap(v)
	if old != nil {
		old.outdate()
	}
	for i, m := range v.members {
		close(m.old)
		m.old = nil
		if m.first == notOpened { // an opened table keeps its TailSize, which is known to work
			m.tailSize.Store(v.tables[i].TailSize)
		}
	}
	var wide []*handle
	if v.plan != nil {
		wide = v.limitFilters(false)
	}
	s.mu.Unlock()
	releaseAll(wide)
	if old != nil {
		old.retire()
	}
	return nil
}

// outdate marks the tables of a version that is no longer the current one. The caller holds mu.
func (v *version) outdate() {
	for _, m := range v.members {
		m.old = make(chan struct{})
	}
}

// Drain waits until no lookup and no Iter uses tables that only older manifests list or, after Close, any tables.
// Their files may then be deleted, unless a manifest in use or a later one lists them. If ctx is done, Drain returns
// its error.
func (s *Set) Drain(ctx context.Context) error {
	var old []<-chan struct{}
	s.mu.Lock()
	for _, m := range s.members {
		if m.old != nil {
			old = append(old, m.old)
		}
	}
	s.mu.Unlock()
	for _, ended := range old {
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
