package printable

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
)

// slowEscape returns the result of Escape and String, computed one character at a time.
func slowEscape(b []byte, reversible bool) string {
	var out strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == '\\' && reversible:
			out.WriteString(`\\`)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, b[0])
		case strconv.IsPrint(r):
			out.WriteRune(r)
		default:
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		b = b[size:]
	}
	return out.String()
}

// slowJSON returns the result of AppendJSON, computed likewise.
func slowJSON(t *testing.T, v any) string {
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	errtest.NoError(t, e.Encode(v))
	var out strings.Builder
	for _, r := range strings.TrimSuffix(encoded.String(), "\n") {
		if strconv.IsPrint(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// rawMark replaces an escaped U+FFFD.
var rawMark = strings.NewReplacer(`\ufffd`, "\ufffd")

// slowField returns the result of AppendJSONBytes, computed likewise.
func slowField(t *testing.T, b []byte) string {
	if utf8.Valid(b) {
		return `"key":` + slowJSON(t, string(b))
	}
	return `"key_base64":"` + base64.StdEncoding.EncodeToString(b) + `"`
}

// randomText returns random bytes, characters of all lengths, and runs of ASCII, some of them truncated.
func randomText(r *rand.Rand) []byte {
	var b []byte
	for range r.Intn(12) {
		switch n := 1 + r.Intn(40); r.Intn(6) {
		case 0:
			for range n {
				b = append(b, byte(r.Intn(256)))
			}
		case 1:
			b = utf8.AppendRune(b, rune(r.Intn(unicode.MaxRune+1)))
		case 2:
			for range n {
				b = utf8.AppendRune(b, rune(r.Intn(1<<(6+r.Intn(11)))))
			}
		case 3:
			b = append(b, strings.Repeat("{\"a\": 1}", n)...)
		case 4:
			b = append(b, "\t\n\x00\x1f\x7f\\"[r.Intn(6)])
		case 5:
			b = b[:len(b)-r.Intn(min(len(b), 3)+1)]
		}
	}
	return b
}

// For any bytes, each format equals the one computed one character at a time.
func TestFormsOfRandomBytes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	r := rand.New(rand.NewSource(7))
	for range 20000 {
		b := randomText(r)
		start := strings.Repeat("-", r.Intn(3))
		for _, tt := range []struct{ form, got, want string }{
			{"Escape", string(AppendEscape([]byte(start), b)), start + slowEscape(b, true)},
			{"Printable", String(string(b)), slowEscape(b, false)},
			// encoding/json escapes the mark of an invalid byte before Go 1.27 only.
			{"AppendJSONString", rawMark.Replace(string(AppendJSONString([]byte(start), string(b)))), start + rawMark.Replace(slowJSON(t, string(b)))},
			{"AppendJSONBytes", string(AppendJSONBytes([]byte(start), "key", b)), start + slowField(t, b)},
		} {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Fatalf("%s of %q (-want +got):\n%s", tt.form, b, diff)
			}
		}
	}
}

// The last character of a window, and the last one that fits the output, are like any other.
func TestEscapeAtAnyOffset(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"é", "日", "😀", "\u0085", "\u202e", "\U000e0001", "\xe2\x82", "\xf0\x9f\x98", "\xc3", "\\"} {
		for n := range 2*window + 8 {
			for _, pad := range []string{"x", "\t", "é"} {
				b := []byte(strings.Repeat(pad, n) + s + "y" + s)
				if got, want := Escape(b), slowEscape(b, true); got != want {
					t.Fatalf("Escape(%q) = %s, want %s", b, got, want)
				}
			}
		}
	}
}

// A large value needs more than one part of the output.
func TestEscapeLargeValue(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	b := make([]byte, 3<<20+1)
	rand.New(rand.NewSource(3)).Read(b)
	if got, want := Escape(b), slowEscape(b, true); got != want {
		t.Error("escaped bytes differ")
	}
}

func TestIsPrint(t *testing.T) {
	t.Parallel()
	for r := range rune(1 << 16) {
		if got, want := isPrint(r), strconv.IsPrint(r); got != want {
			t.Errorf("isPrint(%#x) = %v, want %v", r, got, want)
		}
	}
}

// A scan does not allocate for each entry.
func TestAppendDoesNotAllocate(t *testing.T) {
	line := make([]byte, 0, 16<<10)
	for _, s := range []string{"日本\x00 é\t\u0085\U000e0001 plain text", "\xff\x80\xe2\x82"} {
		b := []byte(s)
		for name, encode := range map[string]func(){
			"AppendEscape":    func() { line = AppendEscape(line[:0], b) },
			"AppendJSONBytes": func() { line = AppendJSONBytes(line[:0], "key", b) },
		} {
			if n := testing.AllocsPerRun(100, encode); n > 0 {
				t.Errorf("%s of %q allocates %v times", name, b, n)
			}
		}
	}
}
