package set

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A version is a manifest and its tables, with a reference count. The Set holds a reference while
// the version is the current one, and so does what goes on with it after a Swap, such as an Iter.
type version struct {
	refs     refCount
	manifest *Manifest
	members  []*member          // the tables, in the order of their keys
	levels   []merge.LevelTable // their ranges
}

// newVersion returns a version with one reference. Tables that the Set has already are shared.
func (s *Set) newVersion(ctx context.Context, m *Manifest) (*version, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	v := &version{manifest: m.clone()}
	v.refs.n.Store(1)
	for i := range v.manifest.Tables {
		t := &v.manifest.Tables[i]
		m, err := s.member(ctx, t)
		if err != nil {
			v.release()
			return nil, err
		}
		v.members = append(v.members, m)
		v.levels = append(v.levels, merge.LevelTable{Name: t.Name, Smallest: t.Smallest, Largest: t.Largest})
	}
	return v, nil
}

// clone returns a copy that shares no memory with m.
func (m *Manifest) clone() *Manifest {
	c := &Manifest{Tables: slices.Clone(m.Tables)}
	for i := range c.Tables {
		t := &c.Tables[i]
		t.Smallest, t.Largest = bytes.Clone(t.Smallest), bytes.Clone(t.Largest)
	}
	return c
}

// find returns the number of the only table that can have key, or −1 if key is in no range.
func (v *version) find(key []byte) int {
	i := sort.Search(len(v.levels), func(i int) bool { return bytes.Compare(v.levels[i].Largest, key) >= 0 })
	if i == len(v.levels) || bytes.Compare(v.levels[i].Smallest, key) > 0 {
		return -1
	}
	return i
}

// release drops a reference. With the last one, the version leaves its tables.
func (v *version) release() {
	if !v.refs.release() {
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
		if v.refs.acquire() {
			return v, nil
		}
		// It has ended, so there is a newer one.
	}
}
