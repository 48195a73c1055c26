package keylines

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Keys come in their order, in batches, up to the first line that is wrong.
func TestBatches(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("h", maxBatchBytes/2+1)
	for _, tt := range []struct {
		in, err string
		hex     bool
		want    [][]string
	}{
		{"", "", false, nil},
		{"a\\t\nb\r\n\nc", "", false, [][]string{{"a\t", "b\r"}, {"", "c"}}},
		{"61\nff\n00\n", "", true, [][]string{{"a", "\xff"}, {"\x00"}}},
		{half + "\n" + half + "\n", "", false, [][]string{{half}, {half}}},
		{"a\nb\nc\n\\q\n", `in, line 4: key "\\q": no such escape: \q (a backslash is \\)`, false, [][]string{{"a", "b"}}},
		{"6\n", `in, line 1: key "6" is not hexadecimal (--hex expects two digits per byte)`, true, nil},
		{"a\n" + half + half + "\n", "in, line 2: longer than the limit of 16777216 bytes", false, nil},
	} {
		var got [][]string
		message := ""
		for batch, err := range Batches(nil, Keys("in", strings.NewReader(tt.in), tt.hex, func(string) {}), 2) {
			if err != nil {
				message = err.Error()
				continue
			}
			var keys []string
			for _, key := range batch {
				keys = append(keys, string(key))
			}
			got = append(got, keys)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || message != tt.err {
			t.Errorf("%.20q: %s, want %s; batches (-want +got):\n%.500s", tt.in, message, tt.err, diff)
		}
	}
}

// A byte order mark is no part of the first key, and is noted. In another line it is text. UTF-16 is an error.
func TestByteOrderMarks(t *testing.T) {
	t.Parallel()
	const noted, utf16 = "in starts with a UTF-8 byte order mark, which is left out", "in: UTF-16 text, not UTF-8: convert it with iconv -f utf-16 -t utf-8"
	for _, tt := range []struct {
		in, note, err string
		hex           bool
		want          []string
	}{
		{"a\nb\n", "", "", false, []string{"a", "b"}},
		{"\ufeffa\nb\n", noted, "", false, []string{"a", "b"}},
		{"\ufeff61\n", noted, "", true, []string{"a"}},
		{"\ufeff", noted, "", false, []string{""}},
		{"a\n\ufeffb\n", "", "", false, []string{"a", "\ufeffb"}},
		{"\\ufeffa\n", "", "", false, []string{"\ufeffa"}}, // as sst prints a key that begins so
		{"\xff\xfea\x00\n\x00b\x00\n\x00", "", utf16, false, nil},
		{"\xfe\xff\x00a\x00\n\x00b\x00\n", "", utf16, false, nil},
		{"\xff\xfe\xe5\x65\n\x00\xe6\x65\n\x00", "", utf16, false, []string{"\xff\xfe\xe5\x65"}},
		{"\xff\xfea\nb\n", "", "", false, []string{"\xff\xfea", "b"}},
		{"a\x00\n\x00b\n", "", "", false, []string{"a\x00", "\x00b"}},
	} {
		var got []string
		note, message := "", ""
		for key, err := range Keys("in", strings.NewReader(tt.in), tt.hex, func(s string) { note += s }) {
			if err != nil {
				message = err.Error()
				continue
			}
			got = append(got, string(key))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || note != tt.note || message != tt.err {
			t.Errorf("%q: note %q, want %q; error %q, want %q; keys (-want +got):\n%s", tt.in, note, tt.note, message, tt.err, diff)
		}
	}
}
