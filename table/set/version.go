package set

import (
	"context"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/table"
)

// A version is a manifest and its tables. Lookups and Iters use the Set's current version. One that was
// retired ends with its last use, and then leaves its tables.
//
// Each use counts in one of several stripes, since goroutines that changed one count would wait for each
// other.
type version struct {
	manifest *Manifest
	tables   []*Table  // all of the manifest, in the order of its All
	members  []*member // the same
	layers   layers    // the newest first. The last one is the manifest's Tables

	stripes [stripes]stripe
	retired atomic.Bool
	ended   atomic.Bool
}

const (
	stripesLg = 6 // log2 of stripes
	stripes   = 1 << stripesLg
)

// A stripe counts uses. It has the size of what processors share, two cache lines.
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
		// It is retired, so there is a newer one.
	}
}

// use begins a use. It returns false if the version is retired.
func (v *version) use() (u use, ok bool) {
	u = use{v, &v.stripes[ownStripe()]}
	u.stripe.n.Add(1)
	if v.retired.Load() {
		u.release()
		return use{}, false
	}
	return u, true
}

// ownStripe returns a number < stripes that is most often another one in another goroutine: each has
// its stack elsewhere, in pieces of at least 2 KiB.
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

// retire ends the version as soon as it is not used.
func (v *version) retire() {
	v.retired.Store(true)
	v.end()
}

// end leaves the tables of a retired version if it is not used. No use begins any more: one that comes sees
// that the version is retired. So stripes that are found empty one after the other are all empty.
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
		defer m.leave() // of all, also if a Forgetter panics
	}
}

// newVersion returns a version of m. Tables that the Set has already are shared.
func (s *Set) newVersion(ctx context.Context, m *Manifest) (*version, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	v := &version{manifest: m.clone()}
	for t := range v.manifest.All() {
		m, err := s.member(ctx, t)
		if err != nil {
			v.retire()
			return nil, err
		}
		v.tables, v.members = append(v.tables, t), append(v.members, m)
	}
	v.setLayers()
	return v, nil
}

// setLayers sets the layers to those of the manifest, with the members of their tables.
func (v *version) setLayers() {
	rest := v.members
	next := func(tables []Table) run {
		r := newRun(rest[:len(tables):len(tables)])
		rest = rest[len(tables):]
		return r
	}
	v.layers = layers{{tables: next(v.manifest.Tables)}}
	for _, l := range v.manifest.Layers {
		v.layers = append(v.layers, layer{tables: next(l.Tables), removals: next(l.Removals)})
	}
	slices.Reverse(v.layers)
}
