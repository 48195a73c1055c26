package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
)

func TestPrintable(t *testing.T) {
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
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %s, want %s", in, got, want)
		}
	}
}

// isPrintable reports whether s is UTF-8 of nothing but printable characters.
func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) })
}

// Whatever comes in, what comes out is printable; JSON decodes to what it is of.
func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31m\n\u009b\u202e\xff\"\\<>&", "\u2028\U000e0001\ud7ff\U0010ffff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, err := AppendJSON(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, out := range []string{Printable(s), Escape([]byte(s)), string(line), ShellWord(s)} {
			if !isPrintable(out) {
				t.Errorf("of %q comes %q, which is not printable", s, out)
			}
		}
		if once := Printable(s); Printable(once) != once {
			t.Errorf("Printable(%q) is not printable: %q", s, once)
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
	if err := WriteJSON(&out, map[string]any{"a\u202e": []string{"<&>", "\n"}}); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"a\\u202e\": [\n    \"<&>\",\n    \"\\n\"\n  ]\n}\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	two := errors.Join(errors.New("one"), errors.New("two\nx: ok"))
	for _, tt := range []struct {
		err  error
		want []string
	}{
		{nil, nil},
		{&fs.PathError{Op: "open", Path: "a\nb", Err: fs.ErrNotExist}, []string{`open a\nb: file does not exist`}},
		{two, []string{"one", `two\nx: ok`}},
		{errors.Join(two, errors.New("three")), []string{"one", `two\nx: ok`, "three"}},
		{fmt.Errorf("a\n.ldb: %w, both", two), []string{`a\n.ldb: one, both`, `a\n.ldb: two\nx: ok, both`}},
		{fmt.Errorf("b: %w", fmt.Errorf("a: %w", two)), []string{"b: a: one", `b: a: two\nx: ok`}},
		{fmt.Errorf("b: %w", errors.Join(errors.New("one"))), []string{"b: one"}},
	} {
		if diff := cmp.Diff(tt.want, Lines(tt.err)); diff != "" {
			t.Errorf("lines of %q (-want +got):\n%s", tt.err, diff)
		}
	}
}

func TestLineAndRow(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	Line(&out, "%s: ok", "a\nb")
	Row(&out, "file\t", "%s", "a\tb\n")
	if diff := cmp.Diff("a\\nb: ok\nfile\\t\ta\\tb\\n\n", out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a.ldb":            "a.ldb",
		"":                 "''",
		"it's $HOME":       `'it'\''s $HOME'`,
		"日本.ldb":           "'日本.ldb'",
		"a\n'\\\u202e\xff": `$'a\012\047\134\342\200\256\377'`,
		"\x001":            `$'\0001'`,
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", in, got, want)
		}
	}
	if got, want := ShellPath("-x y.ldb"), "'./-x y.ldb'"; got != want {
		t.Errorf("ShellPath = %s, want %s", got, want)
	}
}

// A shell takes a word for what it is of.
func TestShellsTakeWords(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	var s strings.Builder
	for c := 1; c < 256; c++ {
		s.WriteByte(byte(c))
	}
	for _, s := range []string{s.String(), "it's", "a b", "\\n", "~", "*", "!x", "-n"} {
		if out, err := exec.Command(bash, "-c", "printf %s "+ShellWord(s)).Output(); err != nil || string(out) != s {
			t.Errorf("bash takes %s for %q, %v", ShellWord(s), out, err)
		}
	}
}
