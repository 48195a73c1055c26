package input

import (
	"context"
	"io"
)

// interruptible returns a reader that gives up when ctx ends, also while r waits for
// what does not come. What r then still reads is lost.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptibleReader{ctx: ctx, r: r, done: make(chan result, 1), buf: make([]byte, 256<<10)}
}

type interruptibleReader struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte      // what r reads into
	rest []byte      // of buf, not yet handed on
	err  error       // behind rest
	done chan result // of one Read of r
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
			i.err = i.ctx.Err() // buf is r's from now on
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	if len(i.rest) > 0 {
		return n, nil
	}
	return n, i.err
}
