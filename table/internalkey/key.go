// Package internalkey has the internal keys of LevelDB databases, in tables and logs: a user key with a sequence
// number and a kind. Their order is table.InternalComparer.
package internalkey

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
)

// A Key is one version of a user key in a LevelDB database. Its bytes are the user key and 8 bytes:
// sequence<<8 | kind, as u64le.
type Key struct {
	UserKey  []byte
	Sequence uint64 // sequence number of the write, <= MaxSequence
	Kind     Kind   // whether the write set or deleted the key
}

// String returns the key as text: "ada" @ 5 : set.
func (k Key) String() string {
	return fmt.Sprintf("%s @ %d : %s", format.Quote(k.UserKey), k.Sequence, k.Kind)
}

// A Kind is the kind of a version of a user key: a value or a deletion.
type Kind byte

// LevelDB's kinds.
const (
	Delete Kind = 0 // the user key was deleted; the entry (a tombstone) has an empty value
	Set    Kind = 1 // the user key was set to the entry's value
)

// String returns "delete", "set", or the number of another kind.
func (k Kind) String() string {
	switch k {
	case Delete:
		return "delete"
	case Set:
		return "set"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// MaxSequence is the highest sequence number, 2^56-1.
const MaxSequence = 1<<56 - 1

// Parse splits an internal key. UserKey aliases key. Parse returns false if key is shorter than 8 bytes. It does not
// check the Kind.
func Parse(key []byte) (Key, bool) {
	if len(key) < format.InternalTrailerLen {
		return Key{}, false
	}
	user, trailer := format.SplitInternal(key)
	return Key{UserKey: user, Sequence: trailer >> 8, Kind: Kind(trailer)}, true
}

// Append appends the internal key's bytes to dst, and returns the slice.
func (k Key) Append(dst []byte) []byte {
	return format.AppendInternal(append(dst, k.UserKey...), k.Sequence<<8|uint64(k.Kind))
}

// SearchKey appends an internal key to dst, and returns the slice. With it, Find and SeekGE of package table find
// the newest version of the user key with a sequence number <= sequence. Use [MaxSequence] for the newest of all.
func SearchKey(dst, user []byte, sequence uint64) []byte {
	return format.AppendInternal(append(dst, user...), min(sequence, MaxSequence)<<8|0xff)
}

// UserKey returns the user key of an internal key, which is key without its last 8 bytes, or nil if key is shorter.
// The result aliases key. It is the FilterKey of tables in LevelDB databases.
func UserKey(key []byte) []byte {
	if len(key) < format.InternalTrailerLen {
		return nil
	}
	n := len(key) - format.InternalTrailerLen
	return key[:n:n]
}
