package printable

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"naïve 日本", "naïve 日本"},
		{"a\tb\nc", `a\tb\nc`},
		{`back\slash`, `back\\slash`},
		{`"quoted" 'too'`, `"quoted" 'too'`},
		{`\"`, `\\"`},
		{"\x00\xff\x80", `\x00\xff\x80`},
	} {
		got := Escape([]byte(tt.in))
		if got != tt.want {
			t.Errorf("Escape(%q) = %s, want %s", tt.in, got, tt.want)
		}
		if back, err := Unescape(got); err != nil || string(back) != tt.in {
			t.Errorf("Unescape(%s) = %q, %v; want %q", got, back, err, tt.in)
		}
	}
}

// Arguments from a shell need not be text, and quotes may be escaped.
func TestUnescapeTakesMore(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"\xff": "\xff", "a\xffb": "a\xffb", `a\"b`: `a"b`, "é": "é"} {
		if got, err := Unescape(in); err != nil || string(got) != want {
			t.Errorf("Unescape(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// Escape is one printable line, and Unescape reverses it.
func TestUnescapeReverses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	for range 20_000 {
		var in []byte
		for range r.IntN(8) {
			in = append(in, []string{`\`, `"`, "n", "x", "\n", "\xff", "é", "\u202e", "\x00", string(rune(r.IntN(0x10ffff)))}[r.IntN(10)]...)
		}
		line := Escape(in)
		if got, err := Unescape(line); err != nil || !bytes.Equal(got, in) || !isPrintable(line) {
			t.Fatalf("%q is %s, and that %q, %v", in, line, got, err)
		}
	}
}

func TestUnescapeRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`\`, `\q`, `a\q`, `\x0`, `\'`, `\u12`, `\400`} {
		if b, err := Unescape(s); err == nil {
			t.Errorf("Unescape(%s) = %q, want an error", s, b)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add([]byte("a\x00\xff\\\"\u2028"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := Unescape(Escape(b)); err != nil || string(got) != string(b) {
			t.Errorf("Unescape(Escape(%q)) = %q, %v", b, got, err)
		}
	})
}

func TestString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                     "",
		`C:\naïve 日本\t.ldb`:    `C:\naïve 日本\t.ldb`,
		"a\nusers.ldb: ok\r":   `a\nusers.ldb: ok\r`,
		"\x1b[31m\a\x00\x7f":   `\x1b[31m\a\x00\x7f`,
		"\u0085\u009b":         `\u0085\u009b`,
		"\u202e\u2066\ufeff":   `\u202e\u2066\ufeff`,
		"\U000e0001\U0010ffff": `\U000e0001\U0010ffff`,
		"\xff\xed\xa0\x80":     `\xff\xed\xa0\x80`,
		"\ufffd":               "\ufffd",
	} {
		if got := String(in); got != want {
			t.Errorf("String(%q) = %s, want %s", in, got, want)
		}
	}
}

// isPrintable reports whether s is UTF-8 of only printable characters.
func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) })
}

// For any input, the output is printable, and JSON decodes to the input.
func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31m\n\u009b\u202e\xff\"\\<>&", "\u2028\U000e0001\ud7ff\U0010ffff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, err := AppendJSON(nil, s)
		errtest.NoError(t, err)
		for _, out := range []string{String(s), Escape([]byte(s)), string(line)} {
			if !isPrintable(out) {
				t.Errorf("of %q comes %q, which is not printable", s, out)
			}
		}
		if once := String(s); String(once) != once {
			t.Errorf("String(%q) is not printable: %q", s, once)
		}
		var back string
		if err := json.Unmarshal(line, &back); err != nil || utf8.ValidString(s) && back != s {
			t.Errorf("JSON of %q is %s, which decodes to %q, %v", s, line, back, err)
		}
	})
}

// JSON of all runes decodes to them.
func TestJSONOfAllRunes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	var all strings.Builder
	for r := range utf8.MaxRune + 1 {
		if utf8.ValidRune(r) {
			all.WriteRune(r)
		}
	}
	line, err := AppendJSON([]byte("x"), all.String())
	if err != nil || line[0] != 'x' || !isPrintable(string(line)) {
		t.Fatalf("JSON is not printable behind %q: %v", line[0], err)
	}
	var back string
	if err := json.Unmarshal(line[1:], &back); err != nil || back != all.String() {
		t.Errorf("JSON decodes to something else, %v", err)
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	errtest.NoError(t, WriteJSON(&out, map[string]any{"a\u202e": []string{"<&>", "\n"}}))
	want := "{\n  \"a\\u202e\": [\n    \"<&>\",\n    \"\\n\"\n  ]\n}\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

// format.ShellWord returns printable text for any string.
func FuzzShellWord(f *testing.F) {
	f.Add("\x1b[31m\n\u009b\u202e\xff\"\\<>&'")
	f.Fuzz(func(t *testing.T, s string) {
		if word := format.ShellWord(s); word != String(word) {
			t.Errorf("of %q comes %q, which is not printable", s, word)
		}
	})
}
