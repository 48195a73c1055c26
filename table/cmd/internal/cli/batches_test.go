package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Batches keep the order of the keys, end at the first error, and contain copies.
func TestBatches(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("h", maxBatchBytes/2+1)
	failure := errors.New("failure")
	for _, tt := range []struct {
		keys []string
		err  error
		want [][]string
	}{
		{nil, nil, nil},
		{[]string{"a", "b", "", "c"}, nil, [][]string{{"a", "b"}, {"", "c"}}},
		{[]string{"a", "b", "c"}, nil, [][]string{{"a", "b"}, {"c"}}},
		{[]string{half, half}, nil, [][]string{{half}, {half}}},
		{[]string{"a", "b", "c"}, failure, [][]string{{"a", "b"}}},
	} {
		keys := func(yield func([]byte, error) bool) {
			var line []byte // each key overwrites the one before
			for _, key := range tt.keys {
				if line = append(line[:0], key...); !yield(line, nil) {
					return
				}
			}
			if tt.err != nil {
				yield(nil, tt.err)
			}
		}
		var got [][]string
		var failed error
		for batch, err := range batches(keys, 2) {
			if failed = err; err != nil {
				continue
			}
			var keys []string
			for _, key := range batch {
				keys = append(keys, string(key))
			}
			got = append(got, keys)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || failed != tt.err {
			t.Errorf("%.20q: %v, want %v; batches (-want +got):\n%.500s", tt.keys, failed, tt.err, diff)
		}
	}
}
