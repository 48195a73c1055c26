package set

import (
	"context"

	"github.com/sievetable/sievetable/table"
)

// Get returns the value of key. If no table has the key, the error is [table.ErrNotFound]. A key
// costs no read if it is in no table's range, or if the table's filters rule it out. Any other key
// costs one read of a data block, unless that is in the Cache. If the table is not open, it is
// opened first, which costs one more read. If the table has a filter only, the error for keys that
// it does not rule out is [table.ErrFilterOnly].
//
// If ctx is done, Get returns its error, which errors.Is finds, and begins no read. A read that has
// begun ends when the Source ends it. Get does not wait for a table to be opened when ctx is done.
//
// The value stays valid, also after Close. The caller must not change it. It can be a part of a
// larger buffer, which then stays in memory with it: see [table.Reader.Get].
func (s *Set) Get(ctx context.Context, key []byte) ([]byte, error) {
	l, err := s.lookup(ctx, key)
	if err != nil {
		return nil, err
	}
	defer l.end()
	return l.reader.GetContext(ctx, key)
}

// MayContain reports whether the set may have key. It asks the filters of the key's table, and
// reads nothing unless the table has to be opened. False is certain. True is wrong at the filters'
// rate of false positives: see [table.Reader.MayContain]. After an error it returns false. If a
// mapped table was cut, it returns true, unless what is left of a filter denies the key.
func (s *Set) MayContain(ctx context.Context, key []byte) (bool, error) {
	l, err := s.lookup(ctx, key)
	if err == table.ErrNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer l.end()
	return l.reader.MayContain(key), nil
}

// lookup begins a lookup of the table that can have key. The caller ends it. If there is no table, the
// error is table.ErrNotFound.
func (s *Set) lookup(ctx context.Context, key []byte) (lookup, error) {
	for {
		if err := ctx.Err(); err != nil {
			return lookup{}, err
		}
		v := s.current.Load()
		if v == nil {
			return lookup{}, table.ErrClosed
		}
		i := v.find(key)
		if i < 0 {
			return lookup{}, table.ErrNotFound
		}
		m := v.members[i]
		if l, ok := m.beginLookup(); ok {
			return l, nil
		}
		if m.refs.acquire() {
			r, err := m.load(ctx)
			return lookup{resident: r}, err
		}
		// The table has ended, so there is a newer version.
	}
}
