package cloud

import (
	"context"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Open opens an object, such as a manifest. All of it is of one version: if a response is cut, Read continues with
// another one only if that has the same version.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r := &stream{limiter: newLimiter(ctx, s.Timeout), s: s, name: name}
	if err := r.open(); err != nil {
		r.cancel(nil)
		return nil, s.named(ctx, err)
	}
	r.object = objectOf(r.r, s.Pins)
	return r, nil
}

// A stream reads an object from its start.
type stream struct {
	limiter
	s      *Store
	name   string
	r      *blob.Reader // the current response
	object object       // of the first response
	n      int64        // bytes that Read has returned
	cuts   int
}

// open sends a request. After the first one, it requires the same version.
func (r *stream) open() error {
	return r.call(func(ctx context.Context) error {
		next, err := r.s.Bucket.NewReader(ctx, r.name, &blob.ReaderOptions{BeforeRead: r.object.require})
		if err != nil {
			return err
		}
		if r.r != nil {
			r.r.Close() // it was cut
		}
		r.r = next
		return nil
	})
}

func (r *stream) Read(p []byte) (n int, err error) {
	n, err = r.response(p)
	r.n += int64(n)
	for isCut(err) && pause(r.inner, &r.cuts) {
		err = r.resume()
	}
	if err != nil && err != io.EOF {
		err = r.s.named(r.outer, err)
	}
	return n, err
}

// resume opens the object again and skips what Read has returned.
func (r *stream) resume() error {
	err := r.open()
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return fmt.Errorf("replaced while it was read: try again (%w)", err)
	}
	if err != nil {
		return err
	}
	if now := objectOf(r.r, r.s.Pins); !now.same(&r.object) {
		return fmt.Errorf("replaced while it was read (%v, and was %v): try again", &now, &r.object)
	}
	_, err = io.CopyN(io.Discard, readFunc(r.response), r.n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // this response is shorter than what Read has returned
	}
	return err
}

// response reads the current response.
func (r *stream) response(p []byte) (n int, err error) {
	err = r.call(func(context.Context) (err error) {
		if n, err = r.r.Read(p); err != nil && err != io.EOF {
			err = bodyError{err}
		}
		return err
	})
	return n, err
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

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
