package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table/set"
)

// A Store is a bucket that contains a set. A [set.Builder] writes the set, since a Store is a [set.Store], and a
// [set.Set] reads it, since a Store is a [set.Source]. It is safe for concurrent use, but each open Set needs a Store
// of its own.
//
// A Store is also a [set.Replacer]: with a Pin for the bucket's driver, it replaces a manifest only if no other
// program has replaced it since it was read.
type Store struct {
	// Bucket is required. The caller closes it.
	Bucket *blob.Bucket

	// Pins contains a Pin for each driver that the program may use. The first that supports Bucket's driver is used.
	Pins []Pin

	// URL is the prefix that Path adds to object names, such as s3://BUCKET/.
	URL string

	// Timeout limits each call, including retries. For List, it limits each page, for Open also each read, and for
	// Replace each of its reads and writes. PutTable has no limit. Zero means no limit.
	Timeout time.Duration

	pinned sync.Map // names to *object: the versions that ReadAt reads
}

// Path returns the URL of the object name.
func (s *Store) Path(name string) string { return s.URL + name }

// List lists the objects whose names contain no "/".
func (s *Store) List(ctx context.Context) (all []set.File, err error) {
	list := s.Bucket.List(&blob.ListOptions{Delimiter: "/"})
	for {
		o, err := within(ctx, s.Timeout, func(ctx context.Context) (*blob.ListObject, error) {
			o, err := list.Next(ctx)
			if errors.Is(err, fs.ErrNotExist) { // from fileblob, if a file is removed while it lists the directory
				err = bodyError{err}
			}
			return o, err
		})
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

// Stat returns the size and modification time of an object.
func (s *Store) Stat(ctx context.Context, name string) (set.File, error) {
	a, err := within(ctx, s.Timeout, func(ctx context.Context) (*blob.Attributes, error) {
		return s.Bucket.Attributes(ctx, name)
	})
	if err != nil {
		return set.File{}, s.named(ctx, err)
	}
	return set.File{Name: name, Size: a.Size, Modified: a.ModTime}, nil
}

// named adds fs.ErrNotExist to a driver's error if the object does not exist.
func (s *Store) named(ctx context.Context, err error) error {
	if s.isMissing(err) {
		return fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
	}
	return withDone(ctx, err)
}

// isMissing reports whether an object does not exist. Google's driver also reports NotFound without permission.
func (s *Store) isMissing(err error) bool {
	return gcerrors.Code(err) == gcerrors.NotFound && s.status(err) != http.StatusForbidden
}

// Put writes an object, atomically replacing any existing one.
func (s *Store) Put(ctx context.Context, name string, content []byte) error {
	return s.write(ctx, name, content, nil)
}

func (s *Store) write(ctx context.Context, name string, content []byte, o *blob.WriterOptions) error {
	_, err := within(ctx, s.Timeout, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.Bucket.WriteAll(ctx, name, content, o)
	})
	return withDone(ctx, err)
}

// Remove deletes an object. If it does not exist, Remove returns nil.
func (s *Store) Remove(ctx context.Context, name string) error {
	_, err := within(ctx, s.Timeout, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.Bucket.Delete(ctx, name)
	})
	if s.isMissing(err) {
		return nil
	}
	return withDone(ctx, err)
}

// within calls f with a timeout, unless that is zero. If f exceeds it, the error says so. If the response is cut, f is
// called again.
func within[T any](ctx context.Context, timeout time.Duration, f func(context.Context) (T, error)) (v T, err error) {
	l := newLimiter(ctx, timeout)
	defer l.cancel(nil)
	err = l.call(func(ctx context.Context) (err error) {
		for cuts := 0; ; {
			if v, err = f(ctx); !isCut(err) || !pause(ctx, &cuts) {
				return err
			}
		}
	})
	return v, err
}
