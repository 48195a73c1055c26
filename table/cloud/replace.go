package cloud

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table/set"
)

// opened is an object that was read to its end.
type opened struct {
	object
	exists bool
	sum    [sha256.Size]byte // of the content
}

// Replace writes an object if its content is old, and otherwise returns [set.ErrChanged]. A nil old means that the
// object must not exist. Without a Pin for the driver, or in a store that ignores conditions, an object that another
// program writes at the same time may be overwritten.
func (s *Store) Replace(ctx context.Context, name string, old, content []byte) error {
	var seen opened
	if old != nil {
		var err error
		if seen, err = s.seen(ctx, name, old); err != nil {
			return err
		}
	}
	for {
		now, err := s.replace(ctx, name, seen, old, content)
		if err == nil || !now.has(old) || now.same(&seen.object) {
			return err
		}
		seen = now // another program has written the same content again
	}
}

// replace writes the object if it is the version seen. If it is not, replace returns the one that is there now.
func (s *Store) replace(ctx context.Context, name string, seen opened, old, content []byte) (now opened, err error) {
	o := &blob.WriterOptions{ContentType: "application/jsonl", IfNotExist: old == nil}
	if old != nil {
		o.BeforeWrite = seen.require
	}
	err = s.write(ctx, name, content, o)
	if err == nil {
		return seen, nil
	}
	now, failed := s.readThrough(ctx, name)
	switch {
	case failed != nil && !errors.Is(failed, fs.ErrNotExist):
		return seen, err
	case now.exists && now.sum == sha256.Sum256(content):
		return now, nil // the first response was lost, and the SDK's retry was refused
	case !now.has(old):
		err = fmt.Errorf("%w (%w)", set.ErrChanged, err)
	}
	return now, err
}

// seen returns the object if its content is old: from the latest Open if that matches, else by reading it again.
func (s *Store) seen(ctx context.Context, name string, old []byte) (opened, error) {
	if o, ok := s.opened.Load(name); ok && o.(opened).has(old) {
		return o.(opened), nil
	}
	o, err := s.readThrough(ctx, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !o.has(old) {
		err = set.ErrChanged
	}
	return o, err
}

// has reports whether the object has that content. Nil means that it does not exist.
func (o opened) has(content []byte) bool {
	return o.exists == (content != nil) && (!o.exists || o.sum == sha256.Sum256(content))
}
