package history

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// A truncated Op is not the end of the input.
func TestReadCut(t *testing.T) {
	t.Parallel()
	whole := Encode([]Op{{Kind: Put, Key: []byte("key"), Value: []byte("value")}})
	for n := range len(whole) + 1 {
		_, err := Read(bufio.NewReader(bytes.NewReader(whole[:n])))
		if errors.Is(err, io.EOF) != (n == 0) || (err == nil) != (n == len(whole)) {
			t.Errorf("%d bytes of %d: %v", n, len(whole), err)
		}
	}
}
