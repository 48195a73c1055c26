package text

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// A Key is a key as it is stored, which may be an internal key.
type Key struct {
	Stored   []byte
	Internal bool
}

// String is the key as messages show it: the start of a long one, and of an internal key the
// user's, with sequence number and kind.
func (k Key) String() string {
	i, ok := table.ParseInternalKey(k.Stored)
	if !k.Internal || !ok {
		return wire.Quote(k.Stored)
	}
	return fmt.Sprintf("%s, sequence %d, %s", wire.Quote(i.UserKey), i.Sequence, KindName(i.Kind))
}

// MarshalJSON makes an Object of all of the key.
func (k Key) MarshalJSON() ([]byte, error) {
	var o JSONEntry
	user := k.Stored
	if i, ok := table.ParseInternalKey(k.Stored); k.Internal && ok {
		user = i.UserKey
		o.Sequence, o.Kind = &i.Sequence, KindName(i.Kind)
	}
	o.Key, o.KeyBase64 = StringOrBytes(user)
	return AppendJSON(nil, o)
}
