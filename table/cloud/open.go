package cloud

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"gocloud.dev/blob"
)

// Open opens an object, such as a manifest. One request reads all of it, so that it is of one version.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// A stream reads an object from its start. At its end, it records the version and the content's hash for Replace.
type stream struct {
	limiter
	s    *Store
	name string
	r    *blob.Reader
	hash hash.Hash // of the bytes read
	opened
}

func (s *Store) open(ctx context.Context, name string) (_ *stream, err error) {
	r := &stream{limiter: newLimiter(ctx, s.Timeout), s: s, name: name, hash: sha256.New()}
	err = r.call(func(ctx context.Context) (err error) {
		r.r, err = s.Bucket.NewReader(ctx, name, nil)
		return err
	})
	if err != nil {
		r.cancel(nil)
		return nil, named(ctx, err)
	}
	r.object = objectOf(r.r, s.Pins)
	return r, nil
}

func (r *stream) Read(p []byte) (n int, err error) {
	err = r.call(func(context.Context) (err error) {
		n, err = r.r.Read(p)
		return err
	})
	r.hash.Write(p[:n])
	if err == io.EOF {
		r.exists, r.sum = true, [sha256.Size]byte(r.hash.Sum(nil))
		r.s.opened.Store(r.name, r.opened)
	} else if err != nil {
		err = named(r.outer, err)
	}
	return n, err
}

func (r *stream) Close() error {
	defer r.cancel(nil)
	return r.r.Close()
}

// readThrough reads an object to its end.
func (s *Store) readThrough(ctx context.Context, name string) (opened, error) {
	r, err := s.open(ctx, name)
	if err != nil {
		return opened{}, err
	}
	_, err = io.Copy(io.Discard, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return opened{}, err
	}
	return r.opened, nil
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
