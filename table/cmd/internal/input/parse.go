package input

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A lineFormat is a format of lines with one pair each.
type lineFormat struct {
	decode func(dst, b []byte) ([]byte, error) // decodes a key or a value; nil: JSON
	keys   bool                                // a line is a key without a value
	last   string                              // what a carriage return at the end of a line is part of; "": it is an error
	raw    bool                                // all bytes are taken as they are
}

var formats = map[string]lineFormat{
	"tsv":      {decode: printable.AppendUnescape, last: "value"},
	"json":     {},
	"hex":      {decode: appendHex},
	"keys":     {decode: printable.AppendUnescape, last: "key", keys: true},
	"raw":      {decode: appendRaw, last: "value", raw: true},
	"raw-keys": {decode: appendRaw, last: "key", raw: true, keys: true},
}

// appendHex is hex.AppendDecode with an error for the user.
func appendHex(dst, b []byte) ([]byte, error) {
	dst, err := hex.AppendDecode(dst, b)
	if err != nil {
		err = errors.New("not hexadecimal, two digits per byte")
	}
	return dst, err
}

func appendRaw(dst, b []byte) ([]byte, error) { return append(dst, b...), nil }

// A parser parses lines into pairs. It reuses the memory of the previous pair.
type parser struct {
	lineFormat
	Pair
	internal bool
	keysOnly bool // a line of columns may be a key alone
}

func (p *parser) parse(line []byte) (err error) {
	switch {
	case p.decode == nil:
		return p.json(line)
	case !p.keys:
		return p.columns(line)
	}
	if p.Key, err = p.decode(p.Key[:0], line); err == nil && p.internal {
		err = errors.New("the lines are keys without sequence numbers: for --internal-keys yes, use another --input-format")
	}
	return err
}

// ParseKey parses an argument that is a key, in one of Formats. An empty format means "keys".
func ParseKey(arg, format string) ([]byte, error) {
	p := parser{lineFormat: formats[cmp.Or(format, "keys")], keysOnly: true}
	p.keys = true
	err := p.parse([]byte(arg))
	return p.Key, err
}

// columns parses a key and a value. For internal keys, the sequence number and the kind are in between.
func (p *parser) columns(line []byte) (err error) {
	key, value, ok := bytes.Cut(line, []byte("\t"))
	switch {
	case ok || p.keysOnly:
	case p.internal:
		return errColumns
	case p.last == "":
		return errors.New("no tab between key and value: add a tab after keys without values")
	default:
		return errors.New("no tab between key and value: for keys without values, use --input-format keys (or raw-keys, without escapes)")
	}
	if p.Key, err = p.decode(p.Key[:0], key); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if p.internal {
		if value, err = p.internalColumns(value); err != nil {
			return err
		}
	}
	if p.Value, err = p.decode(p.Value[:0], value); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	return nil
}

var errColumns = errors.New("--internal-keys yes requires key, sequence number, kind and value, separated by tabs")

// internalColumns parses the columns before the value, and appends the trailer of the internal key to the key.
func (p *parser) internalColumns(rest []byte) (value []byte, err error) {
	sequence, rest, ok := bytes.Cut(rest, []byte("\t"))
	kind, value, ok2 := bytes.Cut(rest, []byte("\t"))
	if !ok || !ok2 {
		return nil, errColumns
	}
	n, err := strconv.ParseUint(string(sequence), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("sequence number %s is not a whole number up to %d", format.Quote(sequence), uint64(internalkey.MaxSequence))
	}
	return value, p.appendTrailer(n, string(kind))
}

func (p *parser) appendTrailer(sequence uint64, kind string) error {
	if sequence > internalkey.MaxSequence {
		return fmt.Errorf("sequence number %d is above the limit of %d", sequence, uint64(internalkey.MaxSequence))
	}
	k, err := text.ParseKind(kind)
	if err != nil {
		return err
	}
	p.Key = internalkey.Key{Sequence: sequence, Kind: k}.Append(p.Key)
	return nil
}

// json parses an object. All fields except the key are optional.
func (p *parser) json(line []byte) (err error) {
	if !utf8.Valid(line) {
		return errors.New("JSON: not UTF-8: for bytes that are not text, use key_base64 and value_base64")
	}
	if loneSurrogate(line) {
		return errors.New("JSON: a lone UTF-16 surrogate is not text: use key_base64 and value_base64")
	}
	var o text.JSONEntry
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return fmt.Errorf("JSON: %w%s", jsonError(err), oneLineHint(line, err))
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("JSON: more text after the object (jq -c . prints one object per line)")
	}
	if err := checkFields(line); err != nil {
		return err
	}
	if p.Key, err = oneOf("key", o.Key, o.KeyBase64); err != nil {
		return err
	}
	if p.Key == nil {
		return errors.New(`JSON: missing "key" or "key_base64"`)
	}
	if p.Value, err = oneOf("value", o.Value, o.ValueBase64); err != nil {
		return err
	}
	if !p.internal {
		return p.userKey(o)
	}
	if o.Sequence == nil {
		return errors.New(`JSON: missing "sequence", which --internal-keys requires`)
	}
	return p.appendTrailer(*o.Sequence, o.Kind)
}

// userKey returns an error if an object has more than a user key and a value.
func (p *parser) userKey(o text.JSONEntry) error {
	switch {
	case o.Sequence == nil && o.Kind == "":
		return nil
	case p.keysOnly: // the command has no --internal-keys for its lines
		return errors.New("JSON: the object has a sequence number or a kind: leave them out")
	}
	return errors.New("JSON: the object has a sequence number or a kind: use --internal-keys yes")
}

// checkFields returns an error for what the decoder accepts in a valid line, but should not: it uses the last of two
// fields with the same name, ignores nulls, and takes an array of numbers for bytes.
func checkFields(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	var names []string
	for d.Token(); d.More(); { // after the object's brace
		token, _ := d.Token()
		name := fmt.Sprint(token)
		if slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, name) }) {
			return fmt.Errorf("JSON: repeated field %q", name)
		}
		switch value, _ := d.Token(); value {
		case nil:
			return fmt.Errorf("JSON: %q is null: leave out fields without a value", name)
		case json.Delim('['):
			return fmt.Errorf("JSON: %q is of type array, not a string", name)
		}
		names = append(names, name)
	}
	return nil
}

// jsonError shortens an error of the JSON decoder, which can contain a long part of the line.
func jsonError(err error) error {
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		return fmt.Errorf("unknown field %s: use key or key_base64, value or value_base64, sequence, and kind", format.Quote([]byte(name)))
	}
	if wrong := base64.CorruptInputError(0); errors.As(err, &wrong) {
		return errors.New("key_base64 or value_base64 is not standard base64, padded with = to a multiple of 4 characters")
	}
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	kind, number, _ := strings.Cut(wrong.Value, " ") // such as "number -1"
	if number != "" {
		kind += " " + format.Quote([]byte(number))
	}
	if wrong.Field == "" {
		return fmt.Errorf("of type %s, not an object", kind)
	}
	want := "a string"
	if wrong.Type.Kind() == reflect.Uint64 {
		want = "a whole number ≥ 0"
	}
	return fmt.Errorf("%q is of type %s, not %s", wrong.Field, kind, want)
}

// oneLineHint returns advice on converting an array, or an object of several lines, to one object per line.
func oneLineHint(line []byte, err error) string {
	switch start := bytes.TrimLeft(line, " \t\r"); {
	case bytes.HasPrefix(start, []byte("[")):
		return "; for one object per line: jq -c '.[]'"
	case bytes.HasPrefix(start, []byte("{")) && errors.Is(err, io.ErrUnexpectedEOF):
		return "; for one object per line: jq -c ."
	}
	return ""
}

// escapes matches JSON escapes. A UTF-16 surrogate pair is one match of 12 bytes, and a lone surrogate is a match
// of 6 bytes. All other matches are shorter.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)
})

// loneSurrogate reports whether line escapes one half of a UTF-16 surrogate pair without
// the other half. The JSON decoder would replace it.
func loneSurrogate(line []byte) bool {
	if !bytes.Contains(line, []byte(`\u`)) {
		return false
	}
	return slices.ContainsFunc(escapes().FindAll(line, -1), func(e []byte) bool { return len(e) == 6 })
}

func oneOf(name string, s *string, b []byte) ([]byte, error) {
	switch {
	case s != nil && b != nil:
		return nil, fmt.Errorf("JSON: both %q and %q", name, name+"_base64")
	case s != nil:
		return []byte(*s), nil
	}
	return b, nil
}
