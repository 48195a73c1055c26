package set

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
)

// ManifestName is the name of the manifest's file, beside the set's tables.
const ManifestName = "set.jsonl"

// A Manifest lists the tables of a set, in the order of their keys. Their key ranges do not overlap. Keys are in
// bytewise order, and have no sequence numbers as in a LevelDB database.
//
// Layers change the set without rewriting its tables. Each applies to Tables and the Layers before it.
type Manifest struct {
	Tables []Table
	Layers []Layer // the newest last
}

// A Layer is a change to a set: entries that are added or changed, and keys that are removed. Its key
// ranges may overlap those of other Layers.
type Layer struct {
	// Tables contain the entries that are added or changed, in the order of their keys. They do not
	// overlap.
	Tables []Table

	// Removals contain the keys that are removed, in their order. They do not overlap. Their values are
	// ignored. They must contain the keys, not only a filter. A key that is also in Tables is not
	// removed. A key that the set does not contain may be removed.
	Removals []Table
}

// All returns pointers to all tables in the order of the manifest's file: Tables, then the Tables and Removals
// of each Layer.
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

// runs returns the tables, in slices of those that do not overlap.
func (m *Manifest) runs() [][]Table {
	runs := [][]Table{m.Tables}
	for _, l := range m.Layers {
		runs = append(runs, l.Tables, l.Removals)
	}
	return runs
}

// A Table describes one table in a manifest. Its JSON is a line of the manifest's file.
type Table struct {
	// Name is the name by which a [Source] reads the table: see [CheckName].
	Name string `json:"name"`

	// Size is the table's size in bytes.
	Size int64 `json:"size"`

	// SHA256 is the SHA-256 of the table's bytes, in 64 lowercase hexadecimal digits.
	SHA256 string `json:"sha256"`

	// Entries is the number of entries, or of keys in the filter if the table has only a filter.
	Entries uint64 `json:"entries"`

	// Smallest and Largest are the first and last key of the table, of at most 256 KiB each.
	Smallest []byte `json:"smallest"`
	Largest  []byte `json:"largest"`

	// TailSize is the size in bytes of the table's tail, which opening the table reads: filters, metaindex,
	// index and footer, without the pages of a filter that is read by the page.
	TailSize int64 `json:"tailSize"`

	// TailSum is the table's [layout.Layout.TailSum], in 64 lowercase hexadecimal digits. A [Set] compares it
	// whenever it opens the table. If the table has a digest of its data blocks, as those of a [TableWriter]
	// have, no other table has this TailSum. Otherwise a table of the same keys and other values may. If
	// TailSum is empty, as in old manifests, a replaced table may go unnoticed until Verify.
	TailSum string `json:"tailSum,omitempty"`

	// FilterSize is the size in bytes of the table filter, or 0 if there is none, or in old manifests.
	FilterSize int64 `json:"filterSize,omitempty"`

	// FilterBits is the number of bits of the filter's fingerprints, if Readers may narrow it: see
	// Options.FilterMemory. Otherwise it is 0.
	FilterBits int `json:"filterBits,omitempty"`
}

// maxFilterBits is the most bits of a fingerprint.
const maxFilterBits = 64

// maxKey is the most bytes of a key in a manifest. A line then has less than maxLine bytes.
const maxKey = 256 << 10

// Check returns an error if m is not a valid manifest. The error names the table's line in the manifest's
// file. m is not valid if:
//
//   - Check of a table fails,
//   - two tables have the same name, or their names differ only in case,
//   - the keys of a table are not greater than those of the table before it in Tables, or in the Tables or
//     Removals of a Layer,
//   - the tables have more than 2^63-1 bytes or entries in total.
func (m *Manifest) Check() error {
	c := checker{names: make(map[string]int, len(m.Tables)), line: 2}
	for i, run := range m.runs() {
		if i%2 == 1 {
			c.line++ // that of the layer
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
	line  int            // of the next table. The first line is 1, and has the format
	names map[string]int // the lines of the tables before, by their names in lower case

	size, entries uint64 // of all tables before, so that no program that sums them up overflows
}

// check checks a table. before is the one before it among those that do not overlap, or nil.
func (c *checker) check(t, before *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	name := strings.ToLower(t.Name)
	line, found := c.names[name]
	switch {
	case before != nil && bytes.Compare(t.Smallest, before.Largest) <= 0:
		return fmt.Errorf("smallest is %s, want it > %s, which is largest of the table before: "+
			"tables are in the order of their keys and do not overlap",
			format.Quote(t.Smallest), format.Quote(before.Largest))
	case uint64(t.Size) > math.MaxInt64-c.size:
		return fmt.Errorf("size is %d, which is over 2^63 bytes with the tables before", t.Size)
	case t.Entries > math.MaxInt64-c.entries:
		return fmt.Errorf("entries is %d, which is over 2^63 with the tables before", t.Entries)
	case found:
		return fmt.Errorf(
			"name %q is that of line %d too, want another name for each table, not only in upper and lower case",
			t.Name, line)
	}
	c.size, c.entries = c.size+uint64(t.Size), c.entries+t.Entries
	c.names[name] = c.line
	return nil
}

// Check returns an error if a field of t is not valid. The error names the table and the field.
func (t *Table) Check() error {
	if err := t.check(); err != nil {
		return fmt.Errorf("set: table %q: %w", shorten(t.Name), err)
	}
	return nil
}

// check is Check. Its error does not name the table.
func (t *Table) check() error { return cmp.Or(checkName(t.Name), t.checkFields()) }

// checkFields checks all fields but Name.
func (t *Table) checkFields() error {
	switch {
	case t.Size < format.FooterLen:
		return fmt.Errorf("size is %d, want ≥ %d, which a table's footer has", t.Size, format.FooterLen)
	case !isSum(t.SHA256):
		return fmt.Errorf("sha256 is %q, want 64 lowercase hexadecimal digits", shorten(t.SHA256))
	case t.TailSum != "" && !isSum(t.TailSum):
		return fmt.Errorf("tailSum is %q, want 64 lowercase hexadecimal digits", shorten(t.TailSum))
	case t.Entries == 0:
		return errors.New("entries is 0, want ≥ 1: leave a table without keys out of the manifest")
	case t.TailSize < format.FooterLen || t.TailSize > t.Size:
		return fmt.Errorf("tailSize is %d, want %d (the footer) to %d (the size)", t.TailSize, format.FooterLen, t.Size)
	case t.FilterSize < 0 || t.FilterSize > t.Size:
		return fmt.Errorf("filterSize is %d, want 0 to %d (the size)", t.FilterSize, t.Size)
	case t.FilterBits < 0 || t.FilterBits > maxFilterBits || t.FilterBits > 0 && t.FilterSize == 0:
		return fmt.Errorf("filterBits is %d for a filter of %d bytes, want 0 to %d, and 0 without a filter",
			t.FilterBits, t.FilterSize, maxFilterBits)
	case len(t.Smallest) > maxKey:
		return fmt.Errorf("smallest has %d bytes, want at most %d", len(t.Smallest), maxKey)
	case len(t.Largest) > maxKey:
		return fmt.Errorf("largest has %d bytes, want at most %d", len(t.Largest), maxKey)
	case bytes.Compare(t.Smallest, t.Largest) > 0:
		return fmt.Errorf("smallest is %s, want it ≤ largest, which is %s",
			format.Quote(t.Smallest), format.Quote(t.Largest))
	}
	return nil
}

// isSum reports whether s is a SHA-256 in lowercase hexadecimal digits.
func isSum(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// maxName is the most bytes of a name, as in most file systems.
const maxName = 255

// CheckName returns an error if name cannot be the name of a table in a manifest. A name has 1 to
// 255 characters. It is the name of a file beside the manifest on every system, so that a set can
// be copied to any:
//
//   - It has only printable ASCII characters: systems write others in several ways. None of them is
//     / \ : < > " | ? *, which have another meaning in names on some system.
//   - It does not end with a dot or a space, which Windows leaves out. So it is not "." or "..".
//   - It is not the name of a Windows device, such as CON or COM1, also with an extension, as in
//     con.ldb.
//   - It is not [ManifestName], in any mix of upper and lower case.
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
		return errors.New("name is empty, want the name of the table's file")
	case len(name) > maxName:
		return fmt.Errorf("name is %q, of %d bytes, want at most %d", shorten(name), len(name), maxName)
	case strings.ContainsAny(name, `/\:`) || name == "." || name == "..":
		return fmt.Errorf("name is %q, want the name of a file without a path: no slash, backslash or colon", name)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }):
		return fmt.Errorf("name is %q, want characters of ASCII that can be printed: give the table another name",
			name)
	case strings.EqualFold(name, ManifestName):
		return fmt.Errorf("name is %q, which is the name of the manifest, want another one", name)
	case strings.ContainsAny(name, `<>"|?*`):
		return fmt.Errorf("name is %q, want none of < > \" | ? *, which no file has in its name on Windows", name)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("name is %q, want no dot and no space at its end: Windows leaves them out", name)
	case device.MatchString(name):
		return fmt.Errorf("name is %q, which is a device on Windows, want another one", name)
	}
	return nil
}

// device matches the names that are devices on Windows. An extension, and spaces before it, make no difference there.
var device = regexp.MustCompile(`^(?i:con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9]) *(\.|$)`)

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
