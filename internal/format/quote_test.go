package format

import (
	"bytes"
	"path/filepath"
	"testing"
)

func TestQuoteShowsTheStartOfALongKey(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("k"), 1000)
	for _, tt := range []struct {
		key  []byte
		want string
	}{
		{nil, `""`},
		{[]byte("a\x00\"b"), `"a\x00\"b"`},
		{long[:64], `"` + string(long[:64]) + `"`},
		{long, `"` + string(long[:64]) + `"… (1000 bytes)`},
	} {
		if got := Quote(tt.key); got != tt.want {
			t.Errorf("Quote of %d bytes = %s, want %s", len(tt.key), got, tt.want)
		}
	}
	if got, want := Quote(long[:50], long[:50]), Quote(long[:100]); got != want {
		t.Errorf("Quote of two parts = %s, want %s", got, want)
	}
}

// A file name is shown unchanged, unless that would be unclear.
func TestPrintableQuotesWhatCannotBePrinted(t *testing.T) {
	t.Parallel()
	inDir := filepath.Join("dir", "000005.ldb")
	for name, want := range map[string]string{
		"":               "",
		"000005.ldb":     "000005.ldb",
		inDir:            inDir,
		"Größe 1.sst":    "Größe 1.sst",
		"two\nlines":     `"two\nlines"`,
		"\x1b[2J":        `"\x1b[2J"`,
		"not UTF-8 \xff": `"not UTF-8 \xff"`,
		`a "quote"`:      `"a \"quote\""`,
	} {
		t.Run(want, func(t *testing.T) {
			if got := Printable(name); got != want {
				t.Errorf("Printable(%q) = %s, want %s", name, got, want)
			}
		})
	}
}
