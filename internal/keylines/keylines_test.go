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
		{"6\n", `in, line 1: key "6" is not hexadecimal, want two digits per byte, because --hex is given`, true, nil},
		{"a\n" + half + half + "\n", "in, line 2: longer than 16777216 bytes, want at most that many", false, nil},
	} {
		var got [][]string
		message := ""
		for batch, err := range Batches(nil, Keys("in", strings.NewReader(tt.in), tt.hex), 2) {
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
