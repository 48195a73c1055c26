package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table/set"
)

// Replace writes an object if its content is old, and otherwise returns [set.ErrChanged]. A nil old means that the
// object must not exist. Without a Pin for the driver, or in a store that ignores conditions, an object that another
// program writes at the same time may be overwritten.
func (s *Store) Replace(ctx context.Context, name string, old, content []byte) error {
	most := max(len(old), len(content)) + 1
	var seen stored
	if old != nil {
		var err error
		if seen, err = s.read(ctx, name, most); err != nil {
			return err
		}
	}
	if !seen.has(old) {
		return set.ErrChanged
	}
	for conflicts := 0; ; {
		o := &blob.WriterOptions{ContentType: "application/jsonl", IfNotExist: old == nil, BeforeWrite: seen.require}
		err := s.write(ctx, name, content, o)
		if err == nil {
			return nil
		}
		now, failed := s.readAgain(ctx, name, most)
		switch {
		case failed != nil:
			return fmt.Errorf("it may or may not have been written: %w (and reading it again failed: %w)", err, failed)
		case now.content != nil && bytes.Equal(now.content, content):
			return nil // the first response was lost, and the SDK's retry was refused
		case !now.has(old):
			return fmt.Errorf("%w (%w)", set.ErrChanged, err)
		case now.same(&seen.object) && !(s.status(err) == http.StatusConflict && pause(ctx, &conflicts)):
			return withDone(ctx, err)
		}
		seen = now // another program has written the same content again, or is writing, which may still fail
	}
}

// stored is an object with its content, or with the start of a longer one. If there is no object, content is nil.
type stored struct {
	object
	content []byte
}

// has reports whether the object has that content. Nil means that it does not exist.
func (o *stored) has(content []byte) bool {
	return (o.content == nil) == (content == nil) && bytes.Equal(o.content, content)
}

// readAgain reads an object after a failed write. Only the content tells whether it was written, so it tries again,
// unless the store refuses.
func (s *Store) readAgain(ctx context.Context, name string, most int) (o stored, err error) {
	for failed := 0; ; {
		if o, err = s.read(ctx, name, most); err == nil || s.isRefused(err) || !pause(ctx, &failed) {
			return o, err
		}
	}
}

// read reads an object, but at most most bytes of it.
func (s *Store) read(ctx context.Context, name string, most int) (o stored, err error) {
	r, err := s.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	o.object = r.(*stream).object
	o.content, err = io.ReadAll(io.LimitReader(r, int64(most)))
	return o, errors.Join(err, r.Close())
}
