package input

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A parser makes pairs of lines. It reuses the memory of the previous pair.
type parser struct {
	Pair
	internal bool
	keysOnly bool // a line of columns may be a key alone
}

// tsv parses key and value with escapes. Internal keys have sequence number and kind in
// between.
func (p *parser) tsv(line []byte) error { return p.columns(line, printable.AppendUnescape) }

// hex parses the same columns as tsv, in hexadecimal.
func (p *parser) hex(line []byte) error { return p.columns(line, hex.AppendDecode) }

// raw parses key and value without escapes.
func (p *parser) raw(line []byte) error {
	return p.columns(line, func(dst, b []byte) ([]byte, error) { return append(dst, b...), nil })
}

// keys parses a line with escapes as a key without value.
func (p *parser) keys(line []byte) (err error) {
	p.Key, err = printable.AppendUnescape(p.Key[:0], line)
	return errors.Join(err, p.keyAlone())
}

// rawKeys takes a line as it is as a key without value.
func (p *parser) rawKeys(line []byte) error {
	p.Key = append(p.Key[:0], line...)
	return p.keyAlone()
}

// keyAlone returns an error if a key without value cannot be a pair.
func (p *parser) keyAlone() error {
	if p.internal {
		return errors.New("keys alone have no sequence numbers: with --internal-keys, use another --input-format")
	}
	return nil
}

func (p *parser) columns(line []byte, decode func(dst, b []byte) ([]byte, error)) (err error) {
	key, value, ok := bytes.Cut(line, []byte("\t"))
	if !ok && !p.keysOnly {
		return errors.New("no tab between key and value: for keys without values, use --input-format keys, or raw-keys without escapes")
	}
	if p.Key, err = decode(p.Key[:0], key); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if p.internal {
		if value, err = p.internalColumns(value); err != nil {
			return err
		}
	}
	if p.Value, err = decode(p.Value[:0], value); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	return nil
}

// internalColumns appends the trailer of an internal key, from the columns before the
// value.
func (p *parser) internalColumns(rest []byte) (value []byte, err error) {
	sequence, rest, ok := bytes.Cut(rest, []byte("\t"))
	kind, value, ok2 := bytes.Cut(rest, []byte("\t"))
	if !ok || !ok2 {
		return nil, errors.New("want key, sequence number, kind and value, separated by tabs, because --internal-keys is given")
	}
	n, err := strconv.ParseUint(string(sequence), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("sequence number %s, want a whole number up to %d", wire.Quote(sequence), uint64(table.MaxSequence))
	}
	return value, p.appendTrailer(n, string(kind))
}

func (p *parser) appendTrailer(sequence uint64, kind string) error {
	if sequence > table.MaxSequence {
		return fmt.Errorf("sequence number %d, want at most %d", sequence, uint64(table.MaxSequence))
	}
	k, err := text.ParseKind(kind)
	if err != nil {
		return err
	}
	p.Key = table.InternalKey{Sequence: sequence, Kind: k}.Append(p.Key)
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
		return errors.New("JSON: want one object per line, as jq -c . writes it")
	}
	if name := repeatedField(line); name != "" {
		return fmt.Errorf("JSON: %q is there more than once", name)
	}
	if p.Key, err = oneOf("key", o.Key, o.KeyBase64); err != nil {
		return err
	}
	if p.Key == nil {
		return errors.New(`JSON: no "key" and no "key_base64"`)
	}
	if p.Value, err = oneOf("value", o.Value, o.ValueBase64); err != nil {
		return err
	}
	if !p.internal {
		if o.Sequence != nil || o.Kind != "" {
			return errors.New("JSON: has a sequence number or a kind: use --internal-keys")
		}
		return nil
	}
	if o.Sequence == nil {
		return errors.New(`JSON: no "sequence", which --internal-keys requires`)
	}
	return p.appendTrailer(*o.Sequence, o.Kind)
}

// repeatedField returns the name of a field that the object on the line, which was decoded,
// has more than once. The decoder would take the last one.
func repeatedField(line []byte) string {
	d := json.NewDecoder(bytes.NewReader(line))
	var names []string
	for d.Token(); d.More(); d.Token() { // the object's brace, and then each value
		name, _ := d.Token()
		text := fmt.Sprint(name)
		if slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, text) }) {
			return text
		}
		names = append(names, text)
	}
	return ""
}

// jsonError shortens an error of the JSON decoder, which can hold a long part of the line.
func jsonError(err error) error {
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		return fmt.Errorf("unknown field %s, want key or key_base64, value or value_base64, sequence, and kind", wire.Quote([]byte(name)))
	}
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	kind, number, _ := strings.Cut(wrong.Value, " ") // such as "number -1"
	if number != "" {
		kind += " " + wire.Quote([]byte(number))
	}
	if wrong.Field == "" {
		return fmt.Errorf("of type %s, want an object", kind)
	}
	want := "a string"
	if wrong.Type.Kind() == reflect.Uint64 {
		want = "a whole number ≥ 0"
	}
	return fmt.Errorf("%q is of type %s, want %s", wrong.Field, kind, want)
}

// oneLineHint says how an array, or an object of several lines, gets into the form that is wanted.
func oneLineHint(line []byte, err error) string {
	switch start := bytes.TrimLeft(line, " \t\r"); {
	case bytes.HasPrefix(start, []byte("[")):
		return "; for one object per line: jq -c '.[]'"
	case bytes.HasPrefix(start, []byte("{")) && errors.Is(err, io.ErrUnexpectedEOF):
		return "; for one object per line: jq -c ."
	}
	return ""
}

// loneSurrogate reports whether line escapes one half of a UTF-16 surrogate pair without
// the other half. The JSON decoder would replace it.
func loneSurrogate(line []byte) bool {
	for i := 0; i+1 < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		switch r := utf16Escape(line[i:]); {
		case r < 0:
			i++ // some other escape
		case utf16.IsSurrogate(r):
			if utf16.DecodeRune(r, utf16Escape(line[i+6:])) == utf8.RuneError {
				return true
			}
			i += 11
		default:
			i += 5
		}
	}
	return false
}

// utf16Escape returns the UTF-16 code unit if b starts with its escape, or else -1.
func utf16Escape(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
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
