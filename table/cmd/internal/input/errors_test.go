package input

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
)

// Errors about lines are short, and in our words.
func TestErrorsOfLines(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	huge := strings.Repeat("x", 4<<20)
	quoted := `"` + huge[:64] + `"… (4194304 bytes)`
	const fields = ": use key or key_base64, value or value_base64, sequence, and kind"
	for _, tt := range []struct {
		name, format, in string
		internal         bool
		want             string
	}{
		{"an unknown field", "json", `{"` + huge + `":1}`, false, "JSON: unknown field " + quoted + fields},
		{"an unknown field of few bytes", "json", `{"a\"\n":1}`, false, `JSON: unknown field "a\"\n"` + fields},
		{"a number that is too large", "json", `{"key":"a","sequence":` + strings.Repeat("9", 1000) + `}`, true, `JSON: "sequence" is of type number "` + strings.Repeat("9", 64) + `"… (1000 bytes), not a whole number ≥ 0`},
		{"a sequence number that is none", "tsv", "a\t" + huge + "\tset\t", true, "sequence number " + quoted + " is not a whole number up to 72057594037927935"},
		{"a kind", "tsv", "a\t1\t" + huge + "\t", true, "kind " + quoted + " is not set, delete or a number up to 255"},
		{"a kind in JSON", "json", `{"key":"a","sequence":1,"kind":"` + huge + `"}`, true, "kind " + quoted + " is not set, delete or a number up to 255"},
	} {
		got := pairs([]string{"-"}, tt.in, Options{Format: tt.format, InternalKeys: tt.internal, Memory: 1 << 30})
		if diff := cmp.Diff([]string{"standard input, line 1: " + tt.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A compressed list or an archive is rejected in every format.
func TestCompressedInput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	fmt.Fprintln(w, "http://example.com/")
	noError(t, w.Close())
	var archive bytes.Buffer
	noError(t, tar.NewWriter(&archive).WriteHeader(&tar.Header{Name: "list.txt"}))
	for want, in := range map[string]string{
		"compressed with gzip: decompress it first: gzip -dc - > OUT":   out.String(),
		"compressed with zstd: decompress it first: zstd -dc - > OUT":   "\x28\xb5\x2f\xfd\x04\x00",
		"compressed with xz: decompress it first: xz -dc - > OUT":       "\xfd7zXZ\x00\x00",
		"compressed with bzip2: decompress it first: bzip2 -dc - > OUT": "BZh91AY&SY\n",
		"a zip archive: extract it first: unzip -":                      "PK\x03\x04\n",
		"a tar archive: extract it first: tar -xf -":                    archive.String(),
	} {
		for name := range formats {
			got := pairs([]string{"-"}, in, Options{Format: name, Memory: 1 << 30})
			if len(got) != 1 || got[0] != "standard input is "+want {
				t.Errorf("as %s: %q, want %q", name, got, want)
			}
		}
	}
}

// For any line, the error is short, and never from another package, except from JSON decoding.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	pieces := []string{"\t", "\t1\tset\t", "{", "}", `"`, ":", ",", "[", `\q`, `\x`, `\u00e9`, "\\", "\xff", "é", "-", "1", "null", "set", `"key":`, `"value":`, `"sequence":`, `"kind":`, `"key_base64":`, `{"key":"a",`, " "}
	lines := 1000
	if long.Enabled() {
		lines = 20_000
	}
	for range lines {
		var line strings.Builder
		for range 1 + rng.IntN(8) {
			piece := pieces[rng.IntN(len(pieces))]
			if rng.IntN(3) == 0 {
				piece = strings.Repeat([]string{"x", "9", "0", "é", "\xff", "-", `\\`}[rng.IntN(7)], 5000)
			}
			line.WriteString(piece)
		}
		for name, format := range formats {
			err := (&parser{lineFormat: format, internal: rng.IntN(2) == 0}).parse([]byte(line.String()))
			if text := fmt.Sprint(err); len(text) > 600 || slices.ContainsFunc([]string{"strconv", "Go struct", "json:"}, func(s string) bool { return strings.Contains(text, s) }) {
				t.Fatalf("%s of %.100q: an error of %d bytes: %.200s", name, line.String(), len(text), text)
			}
		}
	}
}
