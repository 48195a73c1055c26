package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// An InternalKey is what keys are inside a LevelDB or goleveldb database: the
// user's key with the sequence number of the write, so that several versions of a
// key are kept side by side. A table stores the user's key and, behind it, 8 bytes:
// sequence<<8 | kind, little-endian (LevelDB, db/dbformat.h).
type InternalKey struct {
	UserKey  []byte
	Sequence uint64 // of the write, up to MaxSequence
	Kind     Kind
}

// String returns the key as LevelDB's tools print it: the user's key quoted, the
// sequence number and the kind, as "ada" @ 5 : set. Long keys are cut at 64 bytes.
func (k InternalKey) String() string {
	return fmt.Sprintf("%s @ %d : %s", wire.Quote(k.UserKey), k.Sequence, k.Kind)
}

// A Kind says what a version of a key is.
type Kind byte

// LevelDB's kinds.
const (
	KindDelete Kind = 0 // the key was deleted: a tombstone, whose value is empty
	KindSet    Kind = 1 // the key was given the entry's value
)

// String returns "delete" or "set", or the number of a kind that is not known here.
func (k Kind) String() string {
	switch k {
	case KindDelete:
		return "delete"
	case KindSet:
		return "set"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// MaxSequence is the highest sequence number, 2⁵⁶−1.
const MaxSequence = 1<<56 - 1

// ParseInternalKey returns the parts of an internal key; UserKey is a part of key. It
// reports false for a key of fewer than 8 bytes, which is none. The kind can be
// one that is not known here.
func ParseInternalKey(key []byte) (InternalKey, bool) {
	if len(key) < format.InternalTrailerLen {
		return InternalKey{}, false
	}
	user, trailer := splitInternal(key)
	return InternalKey{UserKey: user, Sequence: trailer >> 8, Kind: Kind(trailer)}, true
}

// Append appends the internal key's bytes to dst. Of the sequence number it takes
// the lower 56 bits.
func (k InternalKey) Append(dst []byte) []byte {
	return appendInternal(append(dst, k.UserKey...), k.Sequence<<8|uint64(k.Kind))
}

// SeekKey appends to dst an internal key that comes right before the version of
// user that a snapshot at sequence sees, of whatever kind: what to give [Reader.Find]
// and [Iter.SeekGE]. MaxSequence, and what is above, sees the newest.
func SeekKey(dst, user []byte, sequence uint64) []byte {
	return appendInternal(append(dst, user...), min(sequence, MaxSequence)<<8|0xff)
}

// kindSeek is the kind of shortened separators, as in LevelDB.
const kindSeek = KindSet

// InternalFilterKey is the FilterKey of tables inside a LevelDB or goleveldb
// database. Their keys are a user key and 8 bytes of sequence number and kind;
// their filters hold the user key. It returns key without its last 8 bytes, or
// nil if it has fewer.
func InternalFilterKey(key []byte) []byte {
	if len(key) < format.InternalTrailerLen {
		return nil
	}
	n := len(key) - format.InternalTrailerLen
	return key[:n:n]
}

func splitInternal(key []byte) (user []byte, trailer uint64) {
	n := len(key) - format.InternalTrailerLen
	return key[:n:n], binary.LittleEndian.Uint64(key[n:])
}

func appendInternal(user []byte, trailer uint64) []byte {
	return binary.LittleEndian.AppendUint64(user, trailer)
}

// InternalComparer returns the order of internal keys: that of the users' keys,
// and of one user's key the newest version first. It is what tables inside a
// LevelDB or goleveldb database are in, and its separators and successors are
// theirs. Keys of fewer than 8 bytes, which are no internal keys, come before all
// others, bytewise.
//
// It is a [FilterKeyer]: filters hold what [InternalFilterKey] returns or, if user is a
// FilterKeyer too, the filter key of that.
func InternalComparer(user Comparer) Comparer {
	if _, any := user.(anyOrder); any {
		return anyInternalOrder{}
	}
	return internalComparer{user, compareFunc(user)}
}

// ofInternalKeys reports whether c is an order of internal keys.
func ofInternalKeys(c Comparer) bool {
	switch c.(type) {
	case internalComparer, anyInternalOrder:
		return true
	}
	return false
}

type internalComparer struct {
	user    Comparer
	compare func(a, b []byte) int // the user's keys'; nil: bytewise
}

// Name returns the name that C++ LevelDB gives the order.
func (internalComparer) Name() string { return "leveldb.InternalKeyComparator" }

func (c internalComparer) FilterKey(key []byte) []byte {
	user := InternalFilterKey(key)
	if k, ok := c.user.(FilterKeyer); ok && user != nil {
		return k.FilterKey(user)
	}
	return user
}

func (c internalComparer) Compare(a, b []byte) int {
	if len(a) < format.InternalTrailerLen || len(b) < format.InternalTrailerLen {
		return compareShort(a, b)
	}
	ua, ta := splitInternal(a)
	ub, tb := splitInternal(b)
	if order := c.order(ua, ub); order != 0 {
		return order
	}
	return cmp.Compare(tb, ta)
}

// compareShort compares keys of which at least one is too short for an internal
// key.
func compareShort(a, b []byte) int {
	switch {
	case len(b) >= format.InternalTrailerLen:
		return -1
	case len(a) >= format.InternalTrailerLen:
		return 1
	}
	return bytes.Compare(a, b)
}

func (c internalComparer) order(a, b []byte) int {
	if c.compare == nil {
		return bytes.Compare(a, b)
	}
	return c.compare(a, b)
}

// Separator separates the users' keys. Where that makes a's shorter, and larger,
// it comes with the trailer that is first of all.
func (c internalComparer) Separator(dst, a, b []byte) []byte {
	if len(a) < format.InternalTrailerLen || len(b) < format.InternalTrailerLen {
		return nil
	}
	ua, _ := splitInternal(a)
	ub, _ := splitInternal(b)
	if c.order(ua, ub) >= 0 {
		return nil // of one user's key: there is nothing between
	}
	return c.first(len(dst), c.user.Separator(dst, ua, ub), ua)
}

// Successor is that of the user's key, as Separator does it.
func (c internalComparer) Successor(dst, b []byte) []byte {
	if len(b) < format.InternalTrailerLen {
		return nil
	}
	ub, _ := splitInternal(b)
	return c.first(len(dst), c.user.Successor(dst, ub), ub)
}

// first makes an internal key of s, which has a user's key from start on, if that
// is shorter and larger than user; else it returns nil.
func (c internalComparer) first(start int, s, user []byte) []byte {
	if s == nil || len(s) < start || len(s)-start >= len(user) || c.order(user, s[start:]) >= 0 {
		return nil
	}
	// Clipped, in case that it is a part of a key against the rules.
	return appendInternal(slices.Clip(s), MaxSequence<<8|uint64(kindSeek))
}
