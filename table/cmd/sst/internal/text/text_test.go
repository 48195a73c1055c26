package text

import (
	"testing"
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

// What a shell passes on need not be text, and quotes may be escaped.
func TestUnescapeTakesMore(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"\xff": "\xff", "a\xffb": "a\xffb", `a\"b`: `a"b`, "é": "é"} {
		if got, err := Unescape(in); err != nil || string(got) != want {
			t.Errorf("Unescape(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestUnescapeRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`\`, `\q`, `\x0`, `\'`} {
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
