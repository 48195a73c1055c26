package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// An InternalKey is one version of a user key in a LevelDB database. Its bytes are the user key and 8 bytes:
// sequence<<8 | kind, as u64le.
type InternalKey struct {
	UserKey  []byte
	Sequence uint64 // sequence number of the write, <= MaxSequence
	Kind     Kind   // whether the write set or deleted the key
}

// String returns the key like LevelDB's tools do: "ada" @ 5 : set.
func (k InternalKey) String() string {
	return fmt.Sprintf("%s @ %d : %s", format.Quote(k.UserKey), k.Sequence, k.Kind)
}

// A Kind is the kind of a version of a user key: a value or a deletion.
type Kind byte

// LevelDB's kinds.
const (
	KindDelete Kind = 0 // the user key was deleted; the entry (a tombstone) has an empty value
	KindSet    Kind = 1 // the user key was set to the entry's value
)

// String returns "delete", "set", or the number of another kind.
func (k Kind) String() string {
	switch k {
	case KindDelete:
		return "delete"
	case KindSet:
		return "set"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// MaxSequence is the highest sequence number, 2^56-1.
const MaxSequence = 1<<56 - 1

// ParseInternalKey splits an internal key. UserKey is a part of key. It returns false if key is shorter than 8 bytes.
// It does not check the Kind.
func ParseInternalKey(key []byte) (InternalKey, bool) {
	if len(key) < format.InternalTrailerLen {
		return InternalKey{}, false
	}
	user, trailer := splitInternal(key)
	return InternalKey{UserKey: user, Sequence: trailer >> 8, Kind: Kind(trailer)}, true
}

// Append appends the internal key's bytes to dst, and returns the slice.
func (k InternalKey) Append(dst []byte) []byte {
	return appendInternal(append(dst, k.UserKey...), k.Sequence<<8|uint64(k.Kind))
}

// SearchKey returns dst with an internal key appended. [Reader.Find] and [Iter.SeekGE] find with it the newest version
// of the user key whose sequence number is <= sequence. Use [MaxSequence] for the newest of all.
func SearchKey(dst, user []byte, sequence uint64) []byte {
	return appendInternal(append(dst, user...), min(sequence, MaxSequence)<<8|0xff)
}

// kindSeek is the kind in shortened separators, as in LevelDB.
const kindSeek = KindSet

// InternalFilterKey is the FilterKey of tables in LevelDB databases. It returns the user key of an internal key,
// which is key without its last 8 bytes, or nil if key is shorter. The result is a part of key.
func InternalFilterKey(key []byte) []byte {
	if len(key) < format.InternalTrailerLen {
		return nil
	}
	n := len(key) - format.InternalTrailerLen
	return key[:n:n]
}

// splitInternal splits an internal key of >= 8 bytes. trailer is sequence<<8 | kind.
func splitInternal(key []byte) (user []byte, trailer uint64) {
	n := len(key) - format.InternalTrailerLen
	return key[:n:n], binary.LittleEndian.Uint64(key[n:])
}

// appendInternal appends the trailer to a user key.
func appendInternal(user []byte, trailer uint64) []byte {
	return binary.LittleEndian.AppendUint64(user, trailer)
}

// InternalComparer returns the Comparer for LevelDB databases' tables whose user keys are ordered by user, or
// bytewise if user is nil. It orders internal keys by user key, the newest version first. It is a [FilterKeyer]:
// filters hold user keys, or user's filter keys if user is a FilterKeyer. Write keys from [InternalKey.Append]: a
// Writer takes others too.
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

// filtersUserKeys reports whether c is an InternalComparer whose FilterKey returns all of the
// user key.
func filtersUserKeys(c Comparer) bool {
	internal, ok := c.(internalComparer)
	if !ok {
		return false
	}
	_, partly := internal.user.(FilterKeyer)
	return !partly
}

type internalComparer struct {
	user    Comparer
	compare func(a, b []byte) int // of user keys; nil: bytewise
}

// BlockOrder returns the order of blocks. Their user keys are in the bytewise order, if user's are.
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

// Separator separates the user keys. If the result is shorter than a's user key and > it,
// Separator appends the trailer that comes first.
func (c internalComparer) Separator(dst, a, b []byte) []byte {
	if len(a) < format.InternalTrailerLen || len(b) < format.InternalTrailerLen {
		return nil
	}
	ua, _ := splitInternal(a)
	ub, _ := splitInternal(b)
	if c.compareUser(ua, ub) >= 0 {
		return nil // versions of one user key: nothing is between them
	}
	return c.firstVersion(dst, c.user.Separator(dst, ua, ub), ua)
}

// Successor does the same with the successor of b's user key.
func (c internalComparer) Successor(dst, b []byte) []byte {
	if len(b) < format.InternalTrailerLen {
		return nil
	}
	ub, _ := splitInternal(b)
	return c.firstVersion(dst, c.user.Successor(dst, ub), ub)
}

// firstVersion returns s, which is a user key appended to dst, with the trailer that comes
// first. It returns nil unless that user key is shorter than user and > user.
func (c internalComparer) firstVersion(dst, s, user []byte) []byte {
	if s == nil || len(s) < len(dst) || len(s)-len(dst) >= len(user) || c.compareUser(user, s[len(dst):]) >= 0 {
		return nil
	}
	// To dst, not to s: a Separator that breaks the rules may return a part of a key. Else the
	// bytes are there already, or dst has no room for them.
	s = append(slices.Grow(dst, len(s)-len(dst)+format.InternalTrailerLen), s[len(dst):]...)
	return appendInternal(s, MaxSequence<<8|uint64(kindSeek))
}
