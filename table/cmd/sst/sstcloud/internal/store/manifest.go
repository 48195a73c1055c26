package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/set"
)

// A ManifestError says that an object is no manifest, or a damaged one. It is [table.ErrCorrupt].
type ManifestError struct {
	Name  string
	Cause error
}

func (e *ManifestError) Error() string   { return e.Name + ": " + e.Cause.Error() }
func (e *ManifestError) Unwrap() []error { return []error{e.Cause, table.ErrCorrupt} }

// A Seen is the object of a manifest as it was read. The zero value says that there was none.
type Seen struct {
	file    []byte
	pin     cloud.Pin // that knows the version; nil: none does
	version string
}

// ReadManifest reads the manifest in the object key.
func (s *Store) ReadManifest(ctx context.Context, key string) (*set.Manifest, error) {
	m, _, err := s.SeeManifest(ctx, key)
	return m, err
}

// SeeManifest is ReadManifest that also returns the object, for ReplaceManifest.
func (s *Store) SeeManifest(ctx context.Context, key string) (*set.Manifest, Seen, error) {
	seen, err := s.see(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, seen, fmt.Errorf("%s: no such manifest, want a set that sstcloud put has sent, and the --manifest and the prefix that were given to it: %w",
			s.Name(key), err)
	}
	if err != nil {
		return nil, seen, fmt.Errorf("%s: read the manifest: %w", s.Name(key), err)
	}
	m, err := set.ReadManifest(bytes.NewReader(seen.file))
	if err != nil {
		return nil, seen, &ManifestError{s.Name(key), err}
	}
	return m, seen, nil
}

// see reads the object of a manifest.
func (s *Store) see(ctx context.Context, key string) (Seen, error) {
	return within(ctx, func(ctx context.Context) (seen Seen, err error) {
		r, err := s.NewReader(ctx, key, nil)
		if err != nil {
			return Seen{}, err
		}
		for _, pin := range pins {
			if seen.version = pin.Version(r); seen.version != "" {
				seen.pin = pin
				break
			}
		}
		seen.file, err = io.ReadAll(r)
		return seen, errors.Join(err, r.Close())
	})
}

// A ChangedError says that another program has written a manifest meanwhile, which stays.
type ChangedError struct{ name string }

func (e *ChangedError) Error() string {
	return e.name + ": another program has written this manifest since it was read, and it stays: to replace it, put the set again"
}

// CheckManifest returns a ChangedError if the manifest in the object key is not the one that was seen.
func (s *Store) CheckManifest(ctx context.Context, key string, seen Seen) error {
	now, err := s.see(ctx, key)
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("%s: read the manifest again: %w", s.Name(key), err)
	}
	if !seen.same(now.file) {
		return &ChangedError{s.Name(key)}
	}
	return nil
}

// same reports whether the object has that file, or there is none if file is nil.
func (o Seen) same(file []byte) bool {
	return (o.file == nil) == (file == nil) && bytes.Equal(o.file, file)
}

// ReplaceManifest writes a manifest in the place of the one that was seen. If there is another one now, or
// one where there was none, it stays, and the error is a ChangedError. A directory must be locked. Buckets
// compare the version themselves. The look before is for stores that ignore this condition.
func (s *Store) ReplaceManifest(ctx context.Context, key string, seen Seen, m *set.Manifest) error {
	if err := s.CheckManifest(ctx, key, seen); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := set.WriteManifest(&b, m); err != nil {
		return err
	}
	o := &blob.WriterOptions{ContentType: "application/jsonl", IfNotExist: seen.file == nil}
	if seen.pin != nil {
		o.BeforeWrite = func(as func(any) bool) error {
			seen.pin.Require(seen.version, as)
			return nil
		}
	}
	err := s.WriteAll(ctx, key, b.Bytes(), o)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: write the manifest: %w", s.Name(key), err)
	now, failed := s.see(ctx, key)
	switch {
	case failed != nil:
		return err
	case bytes.Equal(now.file, b.Bytes()): // the answer was lost, and what the SDK sent again was refused
		return nil
	case !seen.same(now.file):
		return fmt.Errorf("%w (%w)", &ChangedError{s.Name(key)}, err)
	}
	return err
}
