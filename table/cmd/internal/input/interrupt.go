package input

import (
	"context"
	"io"
)

// interruptible returns a reader of r whose Read returns an error when ctx ends, even while
// r blocks. What r reads afterwards is lost.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptibleReader{ctx: ctx, r: r, done: make(chan result, 1), buf: make([]byte, 256<<10)}
}

type interruptibleReader struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte      // the buffer that r reads into
	rest []byte      // the part of buf that was not returned yet
	err  error       // the error after rest
	done chan result // the result of a Read of r
}

type result struct {
	n   int
	err error
}

func (i *interruptibleReader) Read(p []byte) (int, error) {
	if len(i.rest) == 0 && i.err == nil {
		go func() {
			n, err := i.r.Read(i.buf)
			i.done <- result{n, err}
		}()
		select {
		case got := <-i.done:
			i.rest, i.err = i.buf[:got.n], got.err
		case <-i.ctx.Done():
			i.err = i.ctx.Err() // r may still write to buf
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	if len(i.rest) > 0 {
		return n, nil
	}
	return n, i.err
}
