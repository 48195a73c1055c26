package codecs

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
)

// For a block that is too large, of any compression, the error has its size.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	src := bytes.Repeat([]byte("block "), 5000)
	for name, stored := range map[string][]byte{
		"zstd": stored(Zstd, src), "zlib": stored(Zlib, src), "deflate": stored(Deflate, src), "snappy": stored(table.Snappy, src),
	} {
		for _, limit := range []int{0, 1, 4096, len(src) - 1} {
			t.Run(fmt.Sprintf("%s, limit %d", name, limit), func(t *testing.T) {
				_, err := decode(stored, limit)
				var got *TooLargeError
				errors.As(err, &got)
				if diff := cmp.Diff(&TooLargeError{Size: len(src), Limit: limit}, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// A block that is corrupt beyond the limit is reported as corrupt, not as too large.
func TestDamagedBeyondLimit(t *testing.T) {
	t.Parallel()
	src := bytes.Repeat([]byte("block "), 500_000)
	for name, c := range map[string]table.Codec{"zstd": Zstd, "zlib": Zlib, "deflate": Deflate} {
		t.Run(name, func(t *testing.T) {
			whole := stored(c, src)
			_, err := decode(append(whole[:len(whole)-10], c.ID()), 1000)
			if err == nil || errors.As(err, new(*TooLargeError)) {
				t.Errorf("%v, want an error that is no TooLargeError", err)
			}
		})
	}
}

// stored returns src as stored in a table: compressed, followed by the compression id.
func stored(c table.Codec, src []byte) []byte { return append(c.Encode(nil, src), c.ID()) }

// decode decodes the result of stored, with the codecs of All.
func decode(stored []byte, limit int) ([]byte, error) {
	block, id := stored[:len(stored)-1], stored[len(stored)-1]
	for _, c := range All() {
		if c.ID() == id {
			return c.Decode(nil, block, limit)
		}
	}
	return nil, fmt.Errorf("no codec has id %d", id)
}
