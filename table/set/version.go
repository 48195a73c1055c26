package set

import (
	"bytes"
	"context"
	"slices"

	"github.com/sievetable/sievetable/internal/refs"
	"github.com/sievetable/sievetable/table"
)

// A version is a manifest and its tables, with a reference count. The Set holds a reference while
// the version is the current one, and so does what goes on with it after a Swap, such as an Iter.
type version struct {
	refs     refs.Count
	manifest *Manifest
	tables   []*Table  // all of the manifest, in the order of its All
	members  []*member // the same
	layers   layers    // the newest first. The last one is the manifest's Tables
}

// A layer is a [Layer] with its tables.
type layer struct{ tables, removals run }

// layers are layers, the newest first. The last one is the base.
type layers []layer

// newVersion returns a version with one reference. Tables that the Set has already are shared.
func (s *Set) newVersion(ctx context.Context, m *Manifest) (*version, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	v := &version{manifest: m.clone()}
	v.refs.Set(1)
	for t := range v.manifest.All() {
		m, err := s.member(ctx, t)
		if err != nil {
			v.release()
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

// clone returns a copy that shares no memory with m.
func (m *Manifest) clone() *Manifest {
	c := &Manifest{Tables: slices.Clone(m.Tables), Layers: slices.Clone(m.Layers)}
	for i := range c.Layers {
		l := &c.Layers[i]
		l.Tables, l.Removals = slices.Clone(l.Tables), slices.Clone(l.Removals)
	}
	for t := range c.All() {
		t.Smallest, t.Largest = bytes.Clone(t.Smallest), bytes.Clone(t.Largest)
	}
	return c
}

// release drops a reference. With the last one, the version leaves its tables.
func (v *version) release() {
	if !v.refs.Release() {
		return
	}
	for _, m := range slices.Backward(v.members) {
		defer m.leave() // of all, also if a Forgetter panics
	}
}

// acquire returns the current version, with one more reference. After Close it returns
// [table.ErrClosed].
func (s *Set) acquire() (*version, error) {
	for {
		v := s.current.Load()
		if v == nil {
			return nil, table.ErrClosed
		}
		if v.refs.Acquire() {
			return v, nil
		}
		// It has ended, so there is a newer one.
	}
}
