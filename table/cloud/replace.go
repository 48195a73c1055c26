package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table/set"
)

// An opened object is one that was read whole.
type opened struct {
	object
	content []byte // nil: there is none
}

// Replace writes an object in the place of the one that has the content old. If the store does not know conditions, or
// there is no Pin of the driver, an object that another program writes in the last moment is replaced all the same.
func (s *Store) Replace(ctx context.Context, name string, old, content []byte) error {
	o := &blob.WriterOptions{ContentType: "application/jsonl", IfNotExist: old == nil}
	if old != nil {
		seen, err := s.seen(ctx, name, old)
		if err != nil {
			return err
		}
		o.BeforeWrite = seen.require
	}
	err := s.write(ctx, name, content, o)
	if err == nil {
		return nil
	}
	now, failed := s.open(ctx, name)
	switch {
	case failed != nil && !errors.Is(failed, fs.ErrNotExist):
		return err
	case now.content != nil && bytes.Equal(now.content, content):
		return nil // the answer was lost, and what the SDK sent again was refused
	case !now.has(old):
		return fmt.Errorf("%w (%w)", set.ErrChanged, err)
	}
	return err
}

// seen returns the object whose content is old, as Open has read it last. If that was another one, it is read again.
func (s *Store) seen(ctx context.Context, name string, old []byte) (opened, error) {
	if o, ok := s.opened.Load(name); ok && o.(opened).has(old) {
		return o.(opened), nil
	}
	o, err := s.open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !o.has(old) {
		err = set.ErrChanged
	}
	return o, err
}

// has reports whether the object has that content, or there is none if it is nil.
func (o opened) has(content []byte) bool {
	return (o.content == nil) == (content == nil) && bytes.Equal(o.content, content)
}
