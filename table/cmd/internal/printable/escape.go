package printable

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// An escapes is a text format: the escape of each byte and each character.
type escapes struct {
	// bytes contains the escape of each byte that is not part of a longer character. The lowest bytes are up to 6
	// characters, the highest byte is their number, and the one below it says startsRune or continuesRune.
	bytes [256]uint64

	// special contains the printable ASCII characters that are escaped, each in all 8 bytes.
	special [2]uint64

	quote func(dst []byte, r rune) []byte // appends the escape of a longer character
}

// The roles of the first two bytes of a character. The second byte has twice the bit of the first.
const (
	startsRune    = 1 << 48
	continuesRune = startsRune << 1
)

// oneByte is the length of an unescaped byte.
const oneByte = 1 << 56

// The text formats. inJSON is for complete JSON, and jsonString for the text between quotes.
var (
	printable  = newEscapes(quoteByte, quoteRune)
	reversible = printable.with(`\`)
	inJSON     = newEscapes(quoteJSONByte, quoteJSONRune)
	jsonString = inJSON.with(`"\`)
)

// newEscapes returns the format that escapes everything that is not printable.
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

// with returns the format that also escapes one or two printable characters, with a backslash.
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

// quoteJSONByte appends the escape of a byte in JSON, which has no escapes for bytes that are not UTF-8.
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

// Printing a database takes as long as escaping its bytes. So put writes 8 bytes at once if they need no escape.
// Otherwise it writes the table's escape of each byte, always as 8 bytes of which the next ones overwrite the rest:
// branches that depend on unpredictable bytes would be slow.

// window is the maximum number of bytes that putBytes reads. maxStep is the space that it needs in the output, 8
// bytes for each, which also suffices for everything else.
const (
	window  = 64 // a power of 2
	maxStep = 8*window + 8
)

// append appends b to dst in this format.
func (e *escapes) append(dst, b []byte) []byte {
	for len(b) > 0 {
		dst = slices.Grow(dst, maxStep+min(len(b), 4<<10))
		n, done := e.put(dst[len(dst):cap(dst)], b)
		dst, b = dst[:len(dst)+n], b[done:]
	}
	return dst
}

// put writes b to out while out has room. It returns the number of bytes written, and of bytes of b read.
func (e *escapes) put(out, b []byte) (n, i int) {
	for i < len(b) && len(out)-n >= maxStep {
		if len(b)-i >= 8 {
			if x := binary.LittleEndian.Uint64(b[i:]); e.plain(x) {
				binary.LittleEndian.PutUint64(out[n:], x)
				i, n = i+8, n+8
				continue
			}
		}
		written, read := e.putBytes((*[maxStep]byte)(out[n:]), b[i:min(i+window, len(b))])
		if i, n = i+read, n+written; read < window-1 {
			written, read = e.putRunes(out[n:], b[i:])
			i, n = i+read, n+written
		}
	}
	return n, i
}

// all8 times a byte repeats it 8 times.
const all8 = 0x0101010101010101

// plain reports whether 8 bytes are ASCII that needs no escape. Below 0x80, a byte gets its highest bit by + 1 if it
// is DEL, and by - ' ' if it is less. A carry or a borrow comes only from a byte that is not plain itself.
func (e *escapes) plain(x uint64) bool {
	y, z := x^e.special[0], x^e.special[1]
	return (x|(x+all8)|(x-all8*' ')|(y-all8)|(z-all8))&(all8*0x80) == 0
}

// putBytes writes bytes, and printable characters of 2 bytes. It stops before any other character in b, and before
// the last byte. Inlined, it would be slower, for lack of registers.
//
//go:noinline
func (e *escapes) putBytes(out *[maxStep]byte, b []byte) (n, i int) {
	escape := e.bytes[b[0]]
	for i, c := range b[1:] {
		next := e.bytes[c]
		if escape<<1&next&continuesRune != 0 {
			switch r := rune(b[i]&0x1f)<<6 | rune(c&0x3f); {
			case i+2 >= len(b):
				return n, i
			case b[i] >= 0xe0:
				if isContinuation(b[i+2]) {
					return n, i
				}
			case !isPrint(r):
				return n, i
			default:
				escape, next = oneByte|uint64(b[i]), oneByte|uint64(c)
			}
		}
		binary.LittleEndian.PutUint64(out[n&(8*window-1):], escape) // n is less; the mask avoids a bounds check
		n += int(escape >> 56)
		escape = next
	}
	return n, len(b) - 1
}

// putRunes writes the printable characters of 3 bytes at the start of b, or otherwise one character. It returns the
// number of bytes written, and of bytes of b read.
func (e *escapes) putRunes(out, b []byte) (n, size int) {
	if size = longRun(b[:min(len(b), len(out))]); size > 0 {
		return copy(out, b[:size]), size
	}
	r, size := utf8.DecodeRune(b)
	switch {
	case size == 1:
		escape := e.bytes[b[0]]
		binary.LittleEndian.PutUint64(out, escape)
		return int(escape >> 56), size
	case r < 1<<16 && isPrint(r), r >= 1<<16 && strconv.IsPrint(r):
		return copy(out, b[:size]), size
	}
	return len(e.quote(out[:0], r)), size
}

// longRun returns the size of the printable characters of 3 bytes at the start of b.
func longRun(b []byte) (n int) {
	for n+2 < len(b) && b[n]&0xf0 == 0xe0 && isContinuation(b[n+1]) && isContinuation(b[n+2]) {
		r := rune(b[n]&0xf)<<12 | rune(b[n+1]&0x3f)<<6 | rune(b[n+2]&0x3f)
		if r < 0x800 || !isPrint(r) {
			return n
		}
		n += 3
	}
	return n
}

func isContinuation(c byte) bool { return c&0xc0 == 0x80 }

// isPrint is like strconv.IsPrint for characters < 1<<16, without a search.
func isPrint(r rune) bool { return printBits[r/64]>>(r%64)&1 != 0 }

// printBits has a bit for each of these characters, set if it is printable.
var printBits = func() (all [1 << 16 / 64]uint64) {
	all[' '/64] = 1 << (' ' % 64)
	for _, table := range unicode.PrintRanges {
		for _, r := range table.R16 {
			for c := uint(r.Lo); c <= uint(r.Hi); c += uint(r.Stride) {
				all[c/64] |= 1 << (c % 64)
			}
		}
	}
	return all
}()
