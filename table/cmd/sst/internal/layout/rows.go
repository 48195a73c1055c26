package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
)

// A Row is a part of a file: a block of a table or its footer, a record of a log, a field of a version edit, or bytes
// that are none of these.
type Row struct {
	Offset      uint64   `json:"offset"`
	Bytes       uint64   `json:"bytes"` // as stored, without the trailer of a block, or the fragment headers of a record
	Kind        string   `json:"kind"`
	Names       []string `json:"names,omitempty"` // names in the metaindex
	Found       bool     `json:"found_by_checksum,omitempty"`
	Compression string   `json:"compression,omitempty"`
	Raw         int      `json:"raw_bytes,omitempty"` // size after decompression
	*Entries
	Check string `json:"check,omitempty"` // result of checking checksum and form of a block: ok or damaged; "" for a gap
	*Batch
	Damage string `json:"damage,omitempty"` // what is wrong

	// What a record has that is no batch.
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`

	Edit *int `json:"edit,omitempty"` // number of the version edit, counted from 0
	*Field

	cause    error               // damage of a block that is known before it is read
	block    *salvage.FoundBlock // set if Found
	contents []byte              // of a record
	text     string              // describes contents
}

// Entries describes the entries of a block that is not a filter.
type Entries struct {
	Count    int       `json:"entries"`
	Restarts int       `json:"restart_points"`
	First    *text.Key `json:"first_key,omitempty"`
	Last     *text.Key `json:"last_key,omitempty"`
}

// end returns where a block ends, with its trailer, or the footer.
func (r *Row) end() uint64 {
	if r.Kind == footer {
		return r.Offset + r.Bytes
	}
	return r.Offset + r.Bytes + format.TrailerLen
}

// overlapsAny reports whether the block shares bytes with one of others.
func (r *Row) overlapsAny(others []Row) bool {
	return slices.ContainsFunc(others, func(o Row) bool { return r.Offset < o.end() && o.Offset < r.end() })
}

// About says what the figures do not.
func (r *Row) About() string {
	switch {
	case r.Damage != "" && r.Check == "":
		return "damaged: " + r.Damage
	case r.Damage != "":
		return r.Damage
	case len(r.Names) > 0:
		return namesText(r.Names)
	case r.Entries == nil || r.First == nil:
		return r.text
	case r.Count == 1:
		return r.First.String()
	}
	return fmt.Sprintf("%v to %v", r.First, r.Last)
}

// namesText formats the first names. A block can have very many names in the metaindex.
func namesText(names []string) string {
	const shown, longest = 3, 64
	var all []string
	for _, name := range names[:min(len(names), shown)] {
		if len(name) > longest {
			name = wire.Quote([]byte(name))
		}
		all = append(all, name)
	}
	if more := len(names) - shown; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}
