package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "",
		`plain "text"`:      `plain "text"`,
		`a\b\\`:             `a\\b\\\\`,
		`\"`:                `\\"`,
		"tab\tnew\nline":    `tab\tnew\nline`,
		"\xff\x00":          `\xff\x00`,
		"é\u202e\U0001f600": "é\\u202e\U0001f600",
	} {
		if got := Escape([]byte(in)); got != want {
			t.Errorf("Escape(%q) = %s, want %s", in, got, want)
		}
	}
}

// Escape is one printable line, and Unescape reverses it.
func TestUnescapeReverses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 20_000 {
		var in []byte
		for range r.IntN(8) {
			in = append(in, []string{`\`, `"`, "n", "x", "\n", "\xff", "é", "\u202e", "\x00", string(rune(r.IntN(0x10ffff)))}[r.IntN(10)]...)
		}
		line := Escape(in)
		got, err := Unescape(line)
		if err != nil || !bytes.Equal(got, in) || strings.ContainsFunc(line, func(r rune) bool { return !strconv.IsPrint(r) }) {
			t.Fatalf("%q is %s, and that %q, %v", in, line, got, err)
		}
	}
}

func TestUnescapeRefuses(t *testing.T) {
	for _, in := range []string{`\`, `a\q`, `\x4`, `\'`, `\u12`, `\400`} {
		if got, err := Unescape(in); err == nil || !strings.HasPrefix(err.Error(), "no such escape: ") {
			t.Errorf("Unescape(%s) = %q, %v, want an error", in, got, err)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got, want := Printable("C:\\new \"x\"\n\x1b[2J"), `C:\new "x"\n\x1b[2J`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLines(t *testing.T) {
	err := errors.Join(errors.New("one"), fmt.Errorf("two: %w", errors.Join(errors.New("three"), errors.New("four"))))
	if diff := cmp.Diff([]string{"one", "two: three", "four"}, Lines(err)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// JSON has the escapes of what is not printable, and decodes to what it was.
func TestAppendJSON(t *testing.T) {
	in := map[string]string{"a<b>": "é\u202e\U000e0001\n\\"}
	got, err := AppendJSON(nil, in)
	want := `{"a<b>":"é\u202e\udb40\udc01\n\\"}`
	var back map[string]string
	if err != nil || string(got) != want || json.Unmarshal(got, &back) != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if diff := cmp.Diff(in, back); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

func TestUnits(t *testing.T) {
	got := []string{Count(1, "table"), Count(int64(2000), "table"), Bytes(0), Bytes(1), Bytes(999), Bytes(1500)}
	want := []string{"1 table", "2,000 tables", "0 bytes", "1 byte", "999 bytes", "1.5 kB"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
}
