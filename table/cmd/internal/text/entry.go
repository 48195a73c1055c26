package text

import (
	"fmt"
	"io"
	"strconv"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// A JSONEntry is an entry as a JSON object. Bytes that are not UTF-8 are base64 in another
// field.
type JSONEntry struct {
	Key         *string `json:"key,omitempty"`
	KeyBase64   []byte  `json:"key_base64,omitempty"`
	Sequence    *uint64 `json:"sequence,omitempty"` // of an internal key
	Kind        string  `json:"kind,omitempty"`     // of an internal key
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`
	File        string  `json:"file,omitempty"` // where the entry was found
	Level       *int    `json:"level,omitempty"`
	Offset      *uint64 `json:"offset,omitempty"` // offset of the data block, or of the batch in a log
	State       string  `json:"state,omitempty"`
}

// KindName returns the name of a kind. Kinds that only other engines have are numbers.
func KindName(k table.Kind) string {
	switch k {
	case table.KindSet:
		return "set"
	case table.KindDelete:
		return "delete"
	}
	return strconv.Itoa(int(k))
}

// ParseKind reverses KindName.
func ParseKind(name string) (table.Kind, error) {
	switch name {
	case "set":
		return table.KindSet, nil
	case "delete":
		return table.KindDelete, nil
	}
	n, err := strconv.ParseUint(name, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("kind %s, want set, delete or a number up to 255", wire.Quote([]byte(name)))
	}
	return table.Kind(n), nil
}

// JSONLine writes v as JSON on one line.
func JSONLine(w io.Writer, v any) error {
	line, err := printable.AppendJSON(nil, v)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

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
