package text

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// A Key is a stored key, which may be an internal key.
type Key struct {
	Stored   []byte
	Internal bool
}

// String returns the key for messages: the start of a long key. An internal key is its user
// key, sequence number and kind.
func (k Key) String() string {
	i, ok := table.ParseInternalKey(k.Stored)
	if !k.Internal || !ok {
		return wire.Quote(k.Stored)
	}
	return fmt.Sprintf("%s, sequence %d, %s", wire.Quote(i.UserKey), i.Sequence, KindName(i.Kind))
}

// MarshalJSON returns the whole key as a JSONEntry.
func (k Key) MarshalJSON() ([]byte, error) {
	var o JSONEntry
	user := k.Stored
	if i, ok := table.ParseInternalKey(k.Stored); k.Internal && ok {
		user = i.UserKey
		o.Sequence, o.Kind = &i.Sequence, KindName(i.Kind)
	}
	o.Key, o.KeyBase64 = printable.StringOrBytes(user)
	return printable.AppendJSON(nil, o)
}
