package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table/set"
)

// A Store is a bucket in which a [set.Builder] writes sets, and a [set.Set] reads them: it is a [set.Store] and a
// [set.Source]. It is safe for concurrent use. To open several Sets of a bucket, make a Store for each. The caller closes
// the bucket.
//
// It is also a [set.Replacer]: with a Pin of the bucket's driver, a manifest is replaced only if no other program has
// replaced it since it was read.
type Store struct {
	Bucket *blob.Bucket

	// Pins are those of all stores that the program may open. The first one that knows the bucket's driver is used.
	Pins []Pin

	// URL is what Path puts before the names of objects, such as s3://BUCKET/.
	URL string

	// Timeout ends each call, with what the driver sends again. PutTable has no timeout, and List has one for each
	// page. Zero means that there is none.
	Timeout time.Duration

	opened sync.Map // names to opened: what Open has read last
	pinned sync.Map // names to *object: versions that ReadAt reads
}

// Path returns the URL of an object.
func (s *Store) Path(name string) string { return s.URL + name }

// List lists the objects. It leaves out those below a further prefix, which no set has.
func (s *Store) List(ctx context.Context) (all []set.File, err error) {
	list := s.Bucket.List(&blob.ListOptions{Delimiter: "/"})
	for {
		o, err := within(ctx, s.Timeout, list.Next)
		switch {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, withDone(ctx, err)
		case !o.IsDir:
			all = append(all, set.File{Name: o.Key, Size: o.Size, Modified: o.ModTime})
		}
	}
}

// Stat describes an object.
func (s *Store) Stat(ctx context.Context, name string) (set.File, error) {
	a, err := within(ctx, s.Timeout, func(ctx context.Context) (*blob.Attributes, error) {
		return s.Bucket.Attributes(ctx, name)
	})
	if err != nil {
		return set.File{}, named(ctx, err)
	}
	return set.File{Name: name, Size: a.Size, Modified: a.ModTime}, nil
}

// named returns an error of the driver as one of package io/fs, if the object does not exist.
func named(ctx context.Context, err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
	}
	return withDone(ctx, err)
}

// Open reads an object into memory, such as a manifest.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	o, err := s.open(ctx, name)
	return io.NopCloser(bytes.NewReader(o.content)), err
}

func (s *Store) open(ctx context.Context, name string) (o opened, err error) {
	o, err = within(ctx, s.Timeout, func(ctx context.Context) (opened, error) {
		r, err := s.Bucket.NewReader(ctx, name, nil)
		if err != nil {
			return opened{}, err
		}
		content, err := io.ReadAll(r)
		return opened{objectOf(r, s.Pins), content}, errors.Join(err, r.Close())
	})
	if err != nil {
		return opened{}, named(ctx, err)
	}
	s.opened.Store(name, o)
	return o, nil
}

// Put writes an object, or replaces it in one step.
func (s *Store) Put(ctx context.Context, name string, content []byte) error {
	return s.write(ctx, name, content, nil)
}

func (s *Store) write(ctx context.Context, name string, content []byte, o *blob.WriterOptions) error {
	_, err := within(ctx, s.Timeout, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.Bucket.WriteAll(ctx, name, content, o)
	})
	return withDone(ctx, err)
}

// Remove deletes an object, if there is one.
func (s *Store) Remove(ctx context.Context, name string) error {
	_, err := within(ctx, s.Timeout, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.Bucket.Delete(ctx, name)
	})
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return withDone(ctx, err)
}

// within calls f with a context that ends after a timeout, if there is one. The error then says so.
func within[T any](ctx context.Context, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	if timeout == 0 {
		return f(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	v, err := f(limited)
	if err != nil && limited.Err() == context.DeadlineExceeded && ctx.Err() == nil {
		err = fmt.Errorf("the store did not answer within %v: %w", timeout, err)
	}
	return v, err
}
