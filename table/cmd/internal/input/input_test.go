package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

// pairs returns the quoted key and value of each pair, and the error at the end.
func pairs(paths []string, stdin string, o Options) []string {
	got, _ := pairsAndNotes(paths, stdin, o)
	return got
}

func pairsAndNotes(paths []string, stdin string, o Options) (got []string, notes string) {
	var stderr strings.Builder
	r := Reader{Paths: paths, Stdin: strings.NewReader(stdin), Stderr: &stderr, Options: o}
	for p, err := range r.Pairs(context.Background()) {
		if err != nil {
			return append(got, err.Error()), stderr.String()
		}
		got = append(got, fmt.Sprintf("%q %q", p.Key, p.Value))
	}
	return got, stderr.String()
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, format, in string
		internal         bool
		want             []string
	}{
		{"tsv", "tsv", "a\t1\nb\\t\t\\xff\n", false, []string{`"a" "1"`, `"b\t" "\xff"`}},
		{"tsv is the default", "", "a\t1", false, []string{`"a" "1"`}},
		{"tabs in values", "tsv", "a\t1\t2\n", false, []string{`"a" "1\t2"`}},
		{"carriage returns are bytes", "tsv", "a\t1\r\n", false, []string{`"a" "1\r"`}},
		{"empty keys and values", "tsv", "\t\n", false, []string{`"" ""`}},
		{"an empty line", "tsv", "a\t1\n\n", false, []string{`"a" "1"`, "standard input, line 2: no tab between key and value: for keys without values, use --input-format keys (or raw-keys, without escapes)"}},
		{"a wrong escape", "tsv", "a\\q\t1\n", false, []string{`standard input, line 1: key: no such escape: \q (a backslash is \\)`}},
		{"hex", "hex", "00ff\t61\n", false, []string{`"\x00\xff" "a"`}},
		{"hex without a tab", "hex", "00ff\n", false, []string{"standard input, line 1: no tab between key and value: add a tab after keys without values"}},
		{"odd hex", "hex", "0\t61\n", false, []string{"standard input, line 1: key: not hexadecimal, two digits per byte"}},
		{"raw", "raw", "a\\q\t\\t\n", false, []string{`"a\\q" "\\t"`}},
		{"a byte order mark later", "keys", "a\n\ufeffb\n", false, []string{`"a" ""`, `"\ufeffb" ""`}},
		{"keys", "keys", "a b\nc\\n\n", false, []string{`"a b" ""`, `"c\n" ""`}},
		{"raw keys", "raw-keys", "a\\q\\\tb \n\n\xff", false, []string{`"a\\q\\\tb " ""`, `"" ""`, `"\xff" ""`}},
		{"json", "json", `{"key":"a","value":"\u00e9"}` + "\n" + `{"key_base64":"/w==","value_base64":""}`, false, []string{`"a" "é"`, `"\xff" ""`}},
		{"no key", "json", `{"value":"a"}`, false, []string{`standard input, line 1: JSON: missing "key" or "key_base64"`}},
		{"two keys", "json", `{"key":"a","key_base64":"/w=="}`, false, []string{`standard input, line 1: JSON: both "key" and "key_base64"`}},
		{"two values", "json", `{"key":"a","value":"x","value":"y"}`, false, []string{`standard input, line 1: JSON: repeated field "value"`}},
		{"two values in other letters", "json", `{"key":"a","value":"x","Value":"y"}`, false, []string{`standard input, line 1: JSON: repeated field "Value"`}},
		{"a value that is null", "json", `{"value":null,"key":"a"}`, false, []string{`standard input, line 1: JSON: "value" is null: leave out fields without a value`}},
		{"an array of bytes", "json", `{"key_base64":[97],"key":"b"}`, false, []string{`standard input, line 1: JSON: "key_base64" is of type array, not a string`}},
		{"two objects", "json", `{"key":"a"} {"key":"b"}`, false, []string{"standard input, line 1: JSON: more text after the object (jq -c . prints one object per line)"}},
		{"a number", "json", `{"key":"a","value":1}`, false, []string{`standard input, line 1: JSON: "value" is of type number, not a string`}},
		{"base64 without padding", "json", `{"key_base64":"/w"}`, false, []string{"standard input, line 1: JSON: key_base64 or value_base64 is not standard base64, padded with = to a multiple of 4 characters"}},
		{"no UTF-8", "json", "{\"key\":\"a\xff\"}", false, []string{"standard input, line 1: JSON: not UTF-8: for bytes that are not text, use key_base64 and value_base64"}},
		{"half a pair", "json", `{"key":"a","value":"\ud800"}`, false, []string{"standard input, line 1: JSON: a lone UTF-16 surrogate is not text: use key_base64 and value_base64"}},
		{"half a pair beside the replacement", "json", `{"key":"\ufffd","value":"\udfff"}`, false, []string{"standard input, line 1: JSON: a lone UTF-16 surrogate is not text: use key_base64 and value_base64"}},
		{"no pair at all", "json", `{"key":"\\ud800\n\u00e9","value":""}`, false, []string{`"\\ud800\né" ""`}},
		{"a pair, and the replacement", "json", `{"key":"\ud83d\ude00","value":"\uFFFD"}`, false, []string{`"😀" "�"`}},
		{"no object", "json", `[1]`, false, []string{"standard input, line 1: JSON: of type array, not an object; for one object per line: jq -c '.[]'"}},
		{"an array of several lines", "json", "[\n {\"key\":\"a\"}\n]", false, []string{"standard input, line 1: JSON: unexpected EOF; for one object per line: jq -c '.[]'"}},
		{"an object of several lines", "json", "{\n \"key\":\"a\"\n}", false, []string{"standard input, line 1: JSON: unexpected EOF; for one object per line: jq -c ."}},
		{"versions", "tsv", "a\t7\tset\t1\na\t6\tdelete\t\na\t5\t2\tmerge\n", true, []string{`"a\x01\a\x00\x00\x00\x00\x00\x00" "1"`, `"a\x00\x06\x00\x00\x00\x00\x00\x00" ""`, `"a\x02\x05\x00\x00\x00\x00\x00\x00" "merge"`}},
		{"versions in json", "json", `{"key":"a","sequence":7,"kind":"set","value":"1"}`, true, []string{`"a\x01\a\x00\x00\x00\x00\x00\x00" "1"`}},
		{"sequence missing", "json", `{"key":"a"}`, true, []string{`standard input, line 1: JSON: missing "sequence", which --internal-keys requires`}},
		{"sequence unasked for", "json", `{"key":"a","sequence":1}`, false, []string{"standard input, line 1: JSON: the object has a sequence number or a kind: use --internal-keys yes"}},
		{"sequence too large", "tsv", "a\t72057594037927936\tset\t\n", true, []string{"standard input, line 1: sequence number 72057594037927936 is above the limit of 72057594037927935"}},
		{"no such kind", "tsv", "a\t1\tput\t\n", true, []string{`standard input, line 1: kind "put" is not set, delete or a number up to 255`}},
		{"columns missing", "tsv", "a\n", true, []string{"standard input, line 1: --internal-keys yes requires key, sequence number, kind and value, separated by tabs"}},
		{"keys of versions", "keys", "a\n", true, []string{"standard input, line 1: the lines are keys without sequence numbers: for --internal-keys yes, use another --input-format"}},
		{"raw keys of versions", "raw-keys", "a\n", true, []string{"standard input, line 1: the lines are keys without sequence numbers: for --internal-keys yes, use another --input-format"}},
		{"nothing", "tsv", "", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := pairs([]string{"-"}, tt.in, Options{Format: tt.format, InternalKeys: tt.internal})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
		})
	}
}

// A directory's regular files are pairs, and its links are not. Other inputs may follow it.
func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	noError(t, os.MkdirAll(filepath.Join(dir, "sub", "empty"), 0o777))
	for name, contents := range map[string]string{"b": "2\n", "sub/a": "1"} {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(contents), 0o666))
	}
	if err := os.Symlink("b", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	got := pairs([]string{dir, "-"}, "c\t3\n", Options{})
	if diff := cmp.Diff([]string{`"b" "2\n"`, `"sub/a" "1"`, `"c" "3"`}, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	if got := pairs([]string{dir}, "", Options{InternalKeys: true}); len(got) != 1 || !strings.Contains(got[0], "files have no sequence numbers") {
		t.Errorf("a tree of internal keys: %q", got)
	}
}

// A file name becomes a key unchanged, even if it is not UTF-8. The directory may be reached through a link.
func TestTreeOfAnyNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d\xff")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "sub\xfe"), 0o777), os.WriteFile(filepath.Join(dir, "sub\xfe", "a\nb"), []byte("1"), 0o666)); err != nil {
		t.Skip(err) // the file system requires UTF-8
	}
	link := dir + "-link"
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	for _, root := range []string{dir, dir + "/", link, link + "//"} {
		if diff := cmp.Diff([]string{`"sub\xfe/a\nb" "1"`}, pairs([]string{root}, "", Options{})); diff != "" {
			t.Errorf("%q: pairs (-want +got):\n%s", root, diff)
		}
	}
	t.Chdir(dir)
	if diff := cmp.Diff([]string{`"sub\xfe/a\nb" "1"`}, pairs([]string{"."}, "", Options{})); diff != "" {
		t.Errorf("working directory: pairs (-want +got):\n%s", diff)
	}
}

// Reading ends with the loop over the pairs.
func TestStopsEarly(t *testing.T) {
	t.Parallel()
	n := 0
	r := Reader{Paths: []string{"-", "missing"}, Stdin: strings.NewReader("a\t1\nb\t2\n"), Stderr: io.Discard}
	for range r.Pairs(t.Context()) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d pairs, want 1", n)
	}
}

// Inputs that are too large for the memory are rejected, with advice, before they are read.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	write := func(contents string) { noError(t, os.WriteFile(path, []byte(contents), 0o666)) }
	o := Options{Format: "keys", Memory: 32 << 20}
	const most = 4 << 20
	write(strings.Repeat("a", most))
	if got := pairs([]string{dir}, "", o); len(got) != 1 || !strings.HasPrefix(got[0], `"file" "aaa`) {
		t.Errorf("a file of the most bytes: %.100q", got)
	}
	write(strings.Repeat("a", most+1))
	want := []string{path + ": 4194305 bytes, above the limit of 4194304 (1/16 of --memory plus 2 MiB): use --memory 33MiB"}
	if diff := cmp.Diff(want, pairs([]string{dir}, "", o)); diff != "" {
		t.Errorf("a file of a byte more (-want +got):\n%s", diff)
	}
	line := strings.Repeat("a", most) + "\n"
	if got := pairs([]string{"-"}, line+line, o); len(got) != 2 || !strings.HasPrefix(got[1], `"aaa`) {
		t.Errorf("lines of the most bytes: %.100q", got)
	}
	want = []string{`"a" ""`, path + ", line 2: longer than the limit of 4194304 bytes (1/16 of --memory plus 2 MiB): use a --memory of 16 times the line"}
	write("a\na" + line)
	if diff := cmp.Diff(want, pairs([]string{path}, "", o)); diff != "" {
		t.Errorf("a line of a byte more (-want +got):\n%s", diff)
	}
}

// Only in a raw format is a byte order mark part of the first key. A note says what becomes of it.
func TestByteOrderMarks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format, in, note string
		want             []string
	}{
		{"tsv", "a\t1\nb\t2\n", "is left out", []string{`"a" "1"`, `"b" "2"`}},
		{"hex", "61\t31\n", "is left out", []string{`"a" "1"`}},
		{"json", "{\"key\":\"a\"}\n", "is left out", []string{`"a" ""`}},
		{"keys", "a\n", "is left out", []string{`"a" ""`}},
		{"raw", "a\t1\n", "becomes part of the first key", []string{`"\ufeffa" "1"`}},
		{"raw-keys", "a\n", "becomes part of the first key", []string{`"\ufeffa" ""`}},
	} {
		o := Options{Format: tt.format}
		got, notes := pairsAndNotes([]string{"-"}, "\ufeff"+tt.in, o)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.format, diff)
		}
		if want := "sst: note: standard input starts with a UTF-8 byte order mark, which " + tt.note; !strings.HasPrefix(notes, want) || strings.Count(notes, "\n") != 1 {
			t.Errorf("%s: notes %q, want %q", tt.format, notes, want)
		}
		utf16 := pairs([]string{"-"}, "\xff\xfe"+strings.Join(strings.Split(tt.in, ""), "\x00")+"\x00", o)
		isError := strings.Contains(strings.Join(utf16, ""), "standard input: UTF-16 text, not UTF-8")
		if isError != (tt.note == "is left out") {
			t.Errorf("%s: UTF-16 is %q", tt.format, utf16)
		}
	}
}
