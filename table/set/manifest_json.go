package set

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/sievetable/sievetable/internal/format"
)

// A field is a field of a JSON object, with the destination of its value.
type field struct {
	name     string
	value    any
	must     string // the expected value, for errors
	optional bool
}

// decodeFields decodes a JSON object that has each of the fields once, and no others. So no other program can read
// it differently.
func decodeFields(object []byte, fields []field) error {
	if !utf8.Valid(object) {
		return errors.New("not a JSON object: invalid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return fmt.Errorf("%q is not a JSON object", shorten(string(object)))
	}
	found := make(map[string]bool, len(fields))
	for d.More() {
		if err := decodeField(d, fields, found); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return fmt.Errorf("incomplete JSON object: %w", noEOF(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON object in a line")
	}
	for _, f := range fields {
		if !found[f.name] && !f.optional {
			return fmt.Errorf("missing field %q", f.name)
		}
	}
	return nil
}

// decodeField decodes the next field of an object.
func decodeField(d *json.Decoder, fields []field, found map[string]bool) error {
	token, err := d.Token()
	if err != nil {
		return fmt.Errorf("incomplete JSON object: %w", noEOF(err))
	}
	name, _ := token.(string) // an object's keys are strings
	if found[name] {
		return fmt.Errorf("duplicate field %q", name)
	}
	found[name] = true
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("unknown field %q: it may be from a newer version of sievetable", shorten(name))
	}
	f := fields[i]
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return fmt.Errorf("field %q: incomplete JSON value: %w", f.name, noEOF(err))
	}
	_, key := f.value.(*[]byte) // Unmarshal also takes an array of numbers for it
	if string(value) == "null" || key && value[0] != '"' || json.Unmarshal(value, f.value) != nil {
		return fmt.Errorf("%s is %s: must be %s", f.name, shorten(string(value)), f.must)
	}
	return nil
}

// noEOF returns err, but io.ErrUnexpectedEOF for io.EOF.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// plainTable is a Table without methods.
type plainTable Table

// MarshalJSON returns the table's line in a manifest, without checking values.
func (t Table) MarshalJSON() ([]byte, error) {
	t.Smallest, t.Largest = format.AppendNotNil(t.Smallest, nil), format.AppendNotNil(t.Largest, nil) // "", not null
	return json.Marshal(plainTable(t))
}

// UnmarshalJSON sets t to a line of a manifest, without checking values. Only filterSize and filterBits may be missing.
func (t *Table) UnmarshalJSON(line []byte) error {
	var decoded Table
	if err := decoded.decode(line); err != nil {
		return fmt.Errorf("set: %w", err)
	}
	*t = decoded
	return nil
}

// decode is UnmarshalJSON, without the package's name in the error.
func (t *Table) decode(line []byte) error {
	if t.decodeWritten(line) {
		return nil
	}
	return t.decodeStrictly(line)
}

// decodeWritten sets t if line is exactly as MarshalJSON writes it, and otherwise returns false. It takes a quarter
// of decodeStrictly's time.
func (t *Table) decodeWritten(line []byte) bool {
	var p plainTable
	if json.Unmarshal(line, &p) != nil {
		return false
	}
	written, err := Table(p).MarshalJSON()
	if err != nil || !bytes.Equal(written, line) {
		return false
	}
	*t = Table(p)
	return true
}

// decodeStrictly sets t from any line that UnmarshalJSON accepts.
func (t *Table) decodeStrictly(line []byte) error {
	return decodeFields(line, []field{
		{name: "name", value: &t.Name, must: "a string"},
		{name: "size", value: &t.Size, must: "a number < 2^63"},
		{name: "sha256", value: &t.SHA256, must: "a string"},
		{name: "entries", value: &t.Entries, must: "a number from 1 to 2^63-1"},
		{name: "smallest", value: &t.Smallest, must: "base64 in a string"},
		{name: "largest", value: &t.Largest, must: "base64 in a string"},
		{name: "tailSize", value: &t.TailSize, must: "a number < 2^63"},
		{name: "tailSum", value: &t.TailSum, must: "a string"},
		{name: "filterSize", value: &t.FilterSize, must: "a number < 2^63", optional: true},
		{name: "filterBits", value: &t.FilterBits, must: "a number", optional: true},
	})
}
