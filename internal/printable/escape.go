package printable

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// An escapes is a form of text: what stands for each byte and each character.
type escapes struct {
	// bytes has what stands for a byte that is no part of a longer character. The lowest bytes are up
	// to 6 characters, the highest is their number, and the one below says startsRune or continuesRune.
	bytes [256]uint64

	// special has the printable characters of ASCII that are escaped, each in all 8 bytes.
	special [2]uint64

	quote func(dst []byte, r rune) []byte // appends the escape of a longer character
}

// What the first bytes of a character are: the second one has twice the bit of the first.
const (
	startsRune    = 1 << 48
	continuesRune = startsRune << 1
)

// oneByte is for a byte that stands for itself.
const oneByte = 1 << 56

// The forms of text. inJSON is for JSON that is complete, jsonString for what is between quotes.
var (
	printable  = newEscapes(quoteByte, quoteRune)
	reversible = printable.with(`\`)
	inJSON     = newEscapes(quoteJSONByte, quoteJSONRune)
	jsonString = inJSON.with(`"\`)
)

// newEscapes returns the form that escapes everything that is not printable.
func newEscapes(quoteByte func([]byte, byte) []byte, quoteRune func([]byte, rune) []byte) *escapes {
	e := &escapes{special: [2]uint64{all8 * 0x7f, all8 * 0x7f}, quote: quoteRune} // DEL is escaped anyway
	var quoted []byte
	for i := range e.bytes {
		c := byte(i)
		if e.bytes[c] = oneByte | uint64(c); c < ' ' || c > '~' {
			quoted = quoteByte(quoted[:0], c)
			e.set(c, quoted)
		}
		switch {
		case c >= 0xc2 && c <= 0xf4:
			e.bytes[c] |= startsRune
		case c >= 0x80 && c <= 0xbf:
			e.bytes[c] |= continuesRune
		}
	}
	return e
}

// with returns the form that also escapes one or two printable characters, by a backslash.
func (e escapes) with(special string) *escapes {
	for i, c := range []byte(special) {
		e.special[i] = all8 * uint64(c)
		e.set(c, []byte{'\\', c})
	}
	return &e
}

func (e *escapes) set(c byte, quoted []byte) {
	var b [8]byte
	b[7] = byte(copy(b[:6], quoted))
	e.bytes[c] = binary.LittleEndian.Uint64(b[:])
}

// quoteByte appends the escape of a byte in Go strings.
func quoteByte(dst []byte, c byte) []byte {
	if c >= utf8.RuneSelf {
		return strconv.AppendUint(append(dst, `\x`...), uint64(c), 16)
	}
	return quoteRune(dst, rune(c))
}

// quoteRune appends the escape of a character in Go strings.
func quoteRune(dst []byte, r rune) []byte {
	var buf [16]byte
	quoted := strconv.AppendQuoteRune(buf[:0], r)
	return append(dst, quoted[1:len(quoted)-1]...)
}

// quoteJSONByte appends the escape of a byte in JSON, which has none that are not UTF-8.
func quoteJSONByte(dst []byte, c byte) []byte {
	switch c {
	case '\b', '\t', '\n', '\f', '\r':
		return quoteByte(dst, c)
	}
	if c >= utf8.RuneSelf {
		return quoteJSONRune(dst, utf8.RuneError)
	}
	return quoteJSONRune(dst, rune(c))
}

// quoteJSONRune appends the escapes of a character's UTF-16 code units.
func quoteJSONRune(dst []byte, r rune) []byte {
	var units [2]uint16
	for _, unit := range utf16.AppendRune(units[:0], r) {
		dst = hex.AppendEncode(append(dst, `\u`...), []byte{byte(unit >> 8), byte(unit)})
	}
	return dst
}
