package text

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// An JSONEntry is an entry in JSON. What is not UTF-8 is in base64, under another name.
type JSONEntry struct {
	Key         *string `json:"key,omitempty"`
	KeyBase64   []byte  `json:"key_base64,omitempty"`
	Sequence    *uint64 `json:"sequence,omitempty"` // of an internal key
	Kind        string  `json:"kind,omitempty"`     // of an internal key
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`
	File        string  `json:"file,omitempty"` // that it was found in
	Level       *int    `json:"level,omitempty"`
	Offset      *uint64 `json:"offset,omitempty"` // of the data block, or of the batch in a log
	State       string  `json:"state,omitempty"`
}

// StringOrBytes returns b as the one that an Object has it as.
func StringOrBytes(b []byte) (*string, []byte) {
	if !utf8.Valid(b) {
		return nil, b
	}
	s := string(b)
	return &s, nil
}

// KindName is what a kind is called, and a number if it is none of LevelDB's: other
// engines have more.
func KindName(k table.Kind) string {
	switch k {
	case table.KindSet:
		return "set"
	case table.KindDelete:
		return "delete"
	}
	return strconv.Itoa(int(k))
}

// ParseKind is the reverse of KindName.
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
