package filterfile

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/filter"
)

// A filter with fewer bits per key than requested is not built without a note.
func TestSizedNotesTheLargestFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bits int
		keys uint64
		want string
	}{
		{10, 1, ""},
		{10, 429_000_000, ""},
		{10, 500_000_000, "note: a table-bloom filter has at most 512 MiB, so for 500,000,000 keys it has 8.59 bits per key, not 10\n"},
		{1000, 10_000_000, "note: a table-bloom filter has at most 512 MiB, so for 10,000,000 keys it has 429 bits per key, not 1000\n"},
	} {
		var stderr bytes.Buffer
		_, _ = Sized(filter.NewTableBloom(c.bits), c.keys, &stderr) // too little memory does not matter here
		if got := stderr.Bytes(); !bytes.HasSuffix(got, []byte(c.want)) || c.want == "" && len(got) > 0 {
			t.Errorf("%d bits for each of %d keys: %q, want %q", c.bits, c.keys, got, c.want)
		}
	}
}
