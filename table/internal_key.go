package table

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table/internalkey"
)

// InternalComparer returns the Comparer for LevelDB databases' tables whose user keys are ordered by user, or
// bytewise if user is nil. It orders internal keys by user key, the newest version first. Its FilterKey returns the
// user key, or user's filter key if user has a FilterKey. Write keys from [internalkey.Key.Append]: a Writer does
// not check that.
func InternalComparer(user Comparer) Comparer {
	if ofInternalKeys(user) {
		return user
	}
	switch user.(type) {
	case nil:
		user = BytewiseComparer
	case anyOrder:
		return anyInternalOrder{}
	}
	return internalComparer{user, rowblock.OrderOf(user).Func}
}

// ofInternalKeys reports whether c is a Comparer for internal keys.
func ofInternalKeys(c Comparer) bool {
	switch c.(type) {
	case internalComparer, anyInternalOrder:
		return true
	}
	return false
}

type internalComparer struct {
	user    Comparer
	compare func(a, b []byte) int // of user keys; nil: bytewise
}

// BlockOrder returns the order of keys in blocks. If user keys are ordered bytewise, only the trailers are not.
func (c internalComparer) BlockOrder() rowblock.Order {
	order := rowblock.Order{Func: c.Compare}
	if c.compare == nil {
		order.Suffix = format.InternalTrailerLen
	}
	return order
}

// Name returns the name that C++ LevelDB gives the order.
func (internalComparer) Name() string { return "leveldb.InternalKeyComparator" }

func (c internalComparer) FilterKey(key []byte) []byte {
	user := internalkey.UserKey(key)
	if k, ok := c.user.(filterKeyer); ok && user != nil {
		return k.FilterKey(user)
	}
	return user
}

func (c internalComparer) Compare(a, b []byte) int {
	if len(a) < format.InternalTrailerLen || len(b) < format.InternalTrailerLen {
		return compareShort(a, b)
	}
	ua, ta := format.SplitInternal(a)
	ub, tb := format.SplitInternal(b)
	if order := c.compareUser(ua, ub); order != 0 {
		return order
	}
	return cmp.Compare(tb, ta)
}

// compareShort compares two keys of which at least one is too short for an internal key.
func compareShort(a, b []byte) int {
	switch {
	case len(b) >= format.InternalTrailerLen:
		return -1
	case len(a) >= format.InternalTrailerLen:
		return 1
	}
	return bytes.Compare(a, b)
}

// compareUser compares two user keys.
func (c internalComparer) compareUser(a, b []byte) int {
	if c.compare == nil {
		return bytes.Compare(a, b)
	}
	return c.compare(a, b)
}

// Separator separates the user keys. If the result is shorter than a's user key and > it, Separator appends the
// trailer that sorts first.
func (c internalComparer) Separator(dst, a, b []byte) []byte {
	if len(a) < format.InternalTrailerLen || len(b) < format.InternalTrailerLen {
		return nil
	}
	ua, _ := format.SplitInternal(a)
	ub, _ := format.SplitInternal(b)
	if c.compareUser(ua, ub) >= 0 {
		return nil // versions of one user key: no user key is between them
	}
	return c.firstVersion(dst, c.user.Separator(dst, ua, ub), ua)
}

// Successor does the same with the successor of b's user key.
func (c internalComparer) Successor(dst, b []byte) []byte {
	if len(b) < format.InternalTrailerLen {
		return nil
	}
	ub, _ := format.SplitInternal(b)
	return c.firstVersion(dst, c.user.Successor(dst, ub), ub)
}

// firstVersion returns s, which is a user key appended to dst, with the trailer that comes
// first. It returns nil unless that user key is shorter than user and > user.
func (c internalComparer) firstVersion(dst, s, user []byte) []byte {
	if s == nil || len(s) < len(dst) || len(s)-len(dst) >= len(user) || c.compareUser(user, s[len(dst):]) >= 0 {
		return nil
	}
	// Append to dst, not to s: a Separator that breaks the rules may return a subslice of a key. Otherwise dst has
	// the bytes already, or no room for them.
	s = append(slices.Grow(dst, len(s)-len(dst)+format.InternalTrailerLen), s[len(dst):]...)
	return format.AppendInternal(s, internalkey.MaxSequence<<8|uint64(internalkey.Set)) // LevelDB's kind for separators
}
