package store

import (
	"context"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
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
