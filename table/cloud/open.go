package cloud

import (
	"context"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
)

// Open opens an object, such as a manifest. One request reads all of it, so that it is of one version.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r := &stream{limiter: newLimiter(ctx, s.Timeout)}
	err := r.call(func(ctx context.Context) (err error) {
		r.r, err = s.Bucket.NewReader(ctx, name, nil)
		return err
	})
	if err != nil {
		r.cancel(nil)
		return nil, named(ctx, err)
	}
	return r, nil
}

// A stream reads an object from its start.
type stream struct {
	limiter
	r *blob.Reader
}

func (r *stream) Read(p []byte) (n int, err error) {
	err = r.call(func(context.Context) (err error) {
		n, err = r.r.Read(p)
		return err
	})
	if err != nil && err != io.EOF {
		err = named(r.outer, err)
	}
	return n, err
}

func (r *stream) Close() error {
	defer r.cancel(nil)
	return r.r.Close()
}

// A limiter limits each of several calls that need the same context.
type limiter struct {
	outer, inner context.Context
	cancel       context.CancelCauseFunc // of inner
	timeout      time.Duration           // zero means no limit
}

func newLimiter(ctx context.Context, timeout time.Duration) limiter {
	inner, cancel := context.WithCancelCause(ctx)
	return limiter{ctx, inner, cancel, timeout}
}

// call calls f with the context, and cancels the context after the timeout. The error then says so.
func (l *limiter) call(f func(context.Context) error) error {
	if l.timeout > 0 {
		defer time.AfterFunc(l.timeout, func() { l.cancel(context.DeadlineExceeded) }).Stop()
	}
	err := f(l.inner)
	if err != nil && err != io.EOF && l.outer.Err() == nil && context.Cause(l.inner) == context.DeadlineExceeded {
		err = fmt.Errorf("the store did not answer within %v: %w (%v)", l.timeout, context.DeadlineExceeded, err)
	}
	return err
}
