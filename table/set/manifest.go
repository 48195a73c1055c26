package set

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
)

// ManifestName is the file name of a set's manifest, beside its tables.
const ManifestName = "set.jsonl"

// lockName is the file name of a set's lock. Unlocking removes the file.
const lockName = ManifestName + ".lock"

// A Manifest lists the tables of a set, in bytewise key order, without overlap. Each Layer applies to Tables and
// earlier Layers.
type Manifest struct {
	Tables []Table
	Layers []Layer // the newest last
}

// A Layer is a change to a set. Its Tables are in key order, without overlap, and so are its Removals. They may
// overlap other Layers.
type Layer struct {
	Tables []Table // contain the added and changed entries

	// Removals contain the removed keys, which may be absent from the set. They must contain keys, not only a filter.
	// Values are ignored. A key that is also in Tables is not removed.
	Removals []Table
}

// equal reports whether l and m have the same tables, which same compares.
func (l Layer) equal(m Layer, same func(a, b Table) bool) bool {
	return slices.EqualFunc(l.Tables, m.Tables, same) && slices.EqualFunc(l.Removals, m.Removals, same)
}

// All returns all tables in file order: Tables, then those in each Layer. A nil Manifest has none.
func (m *Manifest) All() iter.Seq[*Table] {
	return func(yield func(*Table) bool) {
		for _, run := range m.runs() {
			for i := range run {
				if !yield(&run[i]) {
					return
				}
			}
		}
	}
}

// runs returns the tables in slices without overlap: Tables, then Tables and Removals of each Layer.
func (m *Manifest) runs() [][]Table {
	if m == nil {
		return nil
	}
	runs := [][]Table{m.Tables}
	for _, l := range m.Layers {
		runs = append(runs, l.Tables, l.Removals)
	}
	return runs
}

// A Table describes a table in a manifest. Its JSON is a line of the manifest.
type Table struct {
	Name   string `json:"name"`   // a file name that passes [CheckName]
	Size   int64  `json:"size"`   // in bytes
	SHA256 string `json:"sha256"` // of the table's bytes, in 64 lowercase hexadecimal digits

	Entries  uint64 `json:"entries"`  // or keys in the filter, if the table has only a filter
	Smallest []byte `json:"smallest"` // the first key, of at most 256 KiB
	Largest  []byte `json:"largest"`  // the last key, of at most 256 KiB

	// TailSize is the size of the part that opening the table reads: filters, metaindex, index and footer. It excludes
	// the pages of a filter that is read by the page.
	TailSize int64 `json:"tailSize"`

	// TailSum is the table's [layout.Layout.TailSum], in 64 lowercase hexadecimal digits. Opening the table compares it.
	TailSum string `json:"tailSum"`

	// FilterSize is the size of the table filter in bytes, and FilterBits the width of its fingerprints, or 0 if
	// FilterMemory cannot narrow it. Both are 0 without a table filter, and if [Describe] did not know its policy.
	FilterSize int64 `json:"filterSize,omitempty"`
	FilterBits int   `json:"filterBits,omitempty"`
}

// maxFilterBits is the maximum width of a fingerprint.
const maxFilterBits = 64

// maxKey is the maximum length of a key in a manifest, in bytes. A line then has less than maxLine bytes.
const maxKey = 256 << 10

// Check returns an error, with a line number, if a table is not valid, names are the same in lower case, tables
// overlap or are out of order, or a total exceeds 2^63-1.
func (m *Manifest) Check() error {
	if m == nil {
		return errors.New("set: nil Manifest")
	}
	c := checker{names: make(map[string]int, len(m.Tables)), line: 2}
	for i, run := range m.runs() {
		if i%2 == 1 {
			c.line++ // the layer's line
		}
		var before *Table
		for j := range run {
			if err := c.check(&run[j], before); err != nil {
				return fmt.Errorf("set: line %d of the manifest: %w", c.line, err)
			}
			before = &run[j]
			c.line++
		}
	}
	return nil
}

// A checker checks the tables of a manifest.
type checker struct {
	line  int            // of the next table. Line 1 is the header
	names map[string]int // the lines of the tables before, by name in lower case

	size, entries uint64 // totals of the tables before, so that programs can add them up without overflow
}

// check checks a table. before is the table before it in the same run, or nil.
func (c *checker) check(t, before *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	name := strings.ToLower(t.Name)
	line, found := c.names[name]
	switch {
	case before != nil && bytes.Compare(t.Smallest, before.Largest) <= 0:
		return fmt.Errorf("smallest is %s, not above %s, the largest key of the table before: "+
			"tables must be in key order, without overlap",
			format.Quote(t.Smallest), format.Quote(before.Largest))
	case uint64(t.Size) > math.MaxInt64-c.size:
		return fmt.Errorf("size is %d, which makes the total exceed 2^63-1", t.Size)
	case t.Entries > math.MaxInt64-c.entries:
		return fmt.Errorf("entries is %d, which makes the total exceed 2^63-1", t.Entries)
	case found:
		return fmt.Errorf("name %q is also on line %d: names must differ, not only in case", t.Name, line)
	}
	c.size, c.entries = c.size+uint64(t.Size), c.entries+t.Entries
	c.names[name] = c.line
	return nil
}

// Check returns an error that names the field if t is not valid.
func (t *Table) Check() error {
	if err := t.check(); err != nil {
		return fmt.Errorf("set: table %q: %w", shorten(t.Name), err)
	}
	return nil
}

// check is Check without the table's name in the error.
func (t *Table) check() error { return cmp.Or(checkName(t.Name), t.checkFields()) }

// checkFields checks all fields but Name.
func (t *Table) checkFields() error {
	switch {
	case t.Size < format.FooterLen:
		return fmt.Errorf("size is %d, less than a footer's %d bytes", t.Size, format.FooterLen)
	case !isSum(t.SHA256):
		return fmt.Errorf("sha256 is %q: must be 64 lowercase hexadecimal digits", shorten(t.SHA256))
	case !isSum(t.TailSum):
		return fmt.Errorf("tailSum is %q: must be 64 lowercase hexadecimal digits", shorten(t.TailSum))
	case t.Entries == 0:
		return errors.New("entries is 0: a set has no empty tables")
	case t.TailSize < format.FooterLen || t.TailSize > t.Size:
		return fmt.Errorf("tailSize is %d: must be %d (the footer) to %d (the size)", t.TailSize, format.FooterLen, t.Size)
	case t.FilterSize < 0 || t.FilterSize > t.Size:
		return fmt.Errorf("filterSize is %d: must be 0 to %d (the size)", t.FilterSize, t.Size)
	case t.FilterBits < 0 || t.FilterBits > maxFilterBits || t.FilterBits > 0 && t.FilterSize == 0:
		return fmt.Errorf("filterBits is %d for a filter of %d bytes: must be 0 to %d, and 0 without a filter",
			t.FilterBits, t.FilterSize, maxFilterBits)
	case len(t.Smallest) > maxKey:
		return fmt.Errorf("smallest has %d bytes, more than %d", len(t.Smallest), maxKey)
	case len(t.Largest) > maxKey:
		return fmt.Errorf("largest has %d bytes, more than %d", len(t.Largest), maxKey)
	case bytes.Compare(t.Smallest, t.Largest) > 0:
		return fmt.Errorf("smallest is %s, above largest, %s",
			format.Quote(t.Smallest), format.Quote(t.Largest))
	}
	return nil
}

// isSum reports whether s is a SHA-256 in lowercase hexadecimal digits.
func isSum(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// maxName is the maximum length of a name, as in most file systems.
const maxName = 255

// CheckName returns an error if name cannot be a table's name on all systems. A name has 1 to 255 printable ASCII
// characters, none of them / \ : < > " | ? *, and does not end with a dot or space. Windows devices such as con.ldb,
// [ManifestName] and set.jsonl.lock are reserved, in upper and lower case.
func CheckName(name string) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("set: %w", err)
	}
	return nil
}

// checkName is CheckName, without the package's name in the error.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("name is empty")
	case len(name) > maxName:
		return fmt.Errorf("name is %q, of %d bytes, more than %d", shorten(name), len(name), maxName)
	case strings.ContainsAny(name, `/\:`) || name == "." || name == "..":
		return fmt.Errorf("name is %q: must be a file name without slash, backslash or colon", name)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }):
		return fmt.Errorf("name is %q: must be printable ASCII", name)
	case strings.EqualFold(name, ManifestName):
		return fmt.Errorf("name is %q, which is reserved for the manifest", name)
	case strings.EqualFold(name, lockName):
		return fmt.Errorf("name is %q, which is reserved for the lock of the manifest", name)
	case strings.ContainsAny(name, `<>"|?*`):
		return fmt.Errorf("name is %q: must not contain < > \" | ? *, which Windows does not allow", name)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("name is %q: must not end with a dot or space, which Windows removes", name)
	case isDevice(name):
		return fmt.Errorf("name is %q, which is a device on Windows", name)
	}
	return nil
}

// isDevice reports whether the name is a device on Windows, which ignores an extension and spaces before it.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	switch base = strings.ToLower(strings.TrimRight(base, " ")); base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	return len(base) == 4 && (base[:3] == "com" || base[:3] == "lpt") && '0' <= base[3] && base[3] <= '9'
}

// shorten returns s, or the start of a long s.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// checkedCopy returns a copy of a valid manifest, which shares no memory with m.
func (m *Manifest) checkedCopy() (*Manifest, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	c := &Manifest{Tables: slices.Clone(m.Tables), Layers: slices.Clone(m.Layers)}
	for i := range c.Layers {
		l := &c.Layers[i]
		l.Tables, l.Removals = slices.Clone(l.Tables), slices.Clone(l.Removals)
	}
	for t := range c.All() {
		t.Smallest, t.Largest = bytes.Clone(t.Smallest), bytes.Clone(t.Largest)
	}
	return c, nil
}
