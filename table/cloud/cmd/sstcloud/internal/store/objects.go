package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// An Object is what a store says about an object in its list.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
}

// List lists the objects by their keys. It leaves out those below a further prefix, which no set has.
func (s *Store) List(ctx context.Context) (map[string]Object, error) {
	if s.IsDir() {
		if err := s.checkDir(); err != nil {
			return nil, fmt.Errorf("%s: list the objects: %w", s.name, err)
		}
	}
	all := map[string]Object{}
	list := s.Bucket.List(&blob.ListOptions{Delimiter: "/"})
	for {
		o, err := within(ctx, list.Next)
		switch {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: list the objects: %w", s.name, err)
		case o.IsDir:
			continue
		}
		object, ok, err := s.follow(ctx, o)
		if err != nil {
			return nil, err
		}
		if ok {
			all[o.Key] = object
		}
	}
}

// Attributes returns what the store says about the object key. It ends after [Timeout].
func (s *Store) Attributes(ctx context.Context, key string) (*blob.Attributes, error) {
	return within(ctx, func(ctx context.Context) (*blob.Attributes, error) { return s.Bucket.Attributes(ctx, key) })
}

// A ManifestError says that an object is no manifest, or a damaged one. It is [table.ErrCorrupt].
type ManifestError struct {
	Name  string
	Cause error
}

func (e *ManifestError) Error() string   { return e.Name + ": " + e.Cause.Error() }
func (e *ManifestError) Unwrap() []error { return []error{e.Cause, table.ErrCorrupt} }

// ReadManifest reads the manifest in the object key.
func (s *Store) ReadManifest(ctx context.Context, key string) (*set.Manifest, error) {
	file, err := within(ctx, func(ctx context.Context) ([]byte, error) { return s.ReadAll(ctx, key) })
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, fmt.Errorf("%s: no such manifest, want a set that sstcloud put has sent, and the --manifest and the prefix that were given to it: %w", s.Name(key), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: read the manifest: %w", s.Name(key), err)
	}
	m, err := set.ReadManifest(bytes.NewReader(file))
	if err != nil {
		return nil, &ManifestError{s.Name(key), err}
	}
	return m, nil
}
