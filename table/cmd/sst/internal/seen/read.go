package seen

import (
	"context"
	"io"
)

const chunkSize = 256 << 10

// A chunk is the result of a Read.
type chunk struct {
	data []byte // until the next one is received
	err  error
}

// read reads r in a goroutine of its own, so that waiting for input can end and be interrupted by
// a save. It ends with an error, which is io.EOF at the end, or when ctx ends and r returns.
func read(ctx context.Context, r io.Reader) <-chan chunk {
	chunks := make(chan chunk)
	go func() {
		// While one is used, the other is read into.
		buffer, other := make([]byte, chunkSize), make([]byte, chunkSize)
		for {
			n, err := r.Read(buffer)
			select {
			case chunks <- chunk{buffer[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
			buffer, other = other, buffer
		}
	}()
	return chunks
}
