package filter

import (
	"bytes"
	"strconv"
)

// A Prefixer returns the prefix of a key. If FilterPrefix of table.WriterOptions is set, filters contain these
// prefixes as well as the keys. [PrefixUntil] and [PrefixOfLength] return Prefixers. A Prefixer must be safe for
// concurrent use.
type Prefixer interface {
	// Name returns a name of at most 1 KiB. Tables store it, and Readers use the prefixes only if they
	// have a Prefixer of that name.
	Name() string

	// PrefixLen returns the length of key's prefix, or 0 if it has none. If p is its own prefix, so that
	// PrefixLen(p) is len(p), then p must be the prefix of every key that starts with p. Otherwise scans
	// can miss entries, even without Prefix: see table.IterOptions. Writers check some keys. PrefixLen
	// must not modify or keep key, and must not panic.
	PrefixLen(key []byte) int
}

// PrefixUntil returns a Prefixer for prefixes that end with the first delimiter in the key. A key without the
// delimiter has no prefix. The Prefixer's name is "sievetable.prefix.delimiter:" followed by the delimiter.
func PrefixUntil(delimiter string) Prefixer { return prefixUntil(delimiter) }

type prefixUntil string

func (d prefixUntil) Name() string { return "sievetable.prefix.delimiter:" + string(d) }

func (d prefixUntil) PrefixLen(key []byte) int {
	i := bytes.Index(key, []byte(d))
	if i < 0 || d == "" {
		return 0
	}
	return i + len(d)
}

// PrefixOfLength returns a Prefixer for prefixes of n bytes. A shorter key has no prefix. The Prefixer's name is
// "sievetable.prefix.length:" followed by n.
func PrefixOfLength(n int) Prefixer { return prefixOfLength(n) }

type prefixOfLength int

func (n prefixOfLength) Name() string { return "sievetable.prefix.length:" + strconv.Itoa(int(n)) }

func (n prefixOfLength) PrefixLen(key []byte) int {
	if len(key) < int(n) {
		return 0
	}
	return max(int(n), 0)
}
