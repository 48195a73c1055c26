package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Keys come in their order, in batches, up to the first error. Those of lines are copied.
func TestBatches(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("h", maxBatchBytes/2+1)
	failure := errors.New("failure")
	for _, tt := range []struct {
		first, more []string
		err         error
		want        [][]string
	}{
		{nil, nil, nil, nil},
		{nil, []string{"a", "b", "", "c"}, nil, [][]string{{"a", "b"}, {"", "c"}}},
		{[]string{"a", "b", "c"}, []string{"d"}, nil, [][]string{{"a", "b", "c"}, {"d"}}},
		{[]string{"a"}, []string{"b", "c"}, nil, [][]string{{"a", "b"}, {"c"}}},
		{nil, []string{half, half}, nil, [][]string{{half}, {half}}},
		{nil, []string{"a", "b", "c"}, failure, [][]string{{"a", "b"}}},
	} {
		var first [][]byte
		for _, key := range tt.first {
			first = append(first, []byte(key))
		}
		more := func(yield func([]byte, error) bool) {
			var line []byte // each key replaces the one before
			for _, key := range tt.more {
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
		for batch, err := range batches(first, more, 2) {
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
			t.Errorf("%.20q, %.20q: %v, want %v; batches (-want +got):\n%.500s", tt.first, tt.more, failed, tt.err, diff)
		}
	}
}
