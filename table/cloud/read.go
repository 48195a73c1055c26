package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table/set"
)

// Forget forgets the version of a table's object, so that the next read of the table takes the
// version that is there then.
func (s *Store) Forget(name string) { s.pinned.Delete(name) }

// ReadAt reads len(p) bytes of the table name, from off on, by one request. It returns what
// io.ReaderAt.ReadAt returns: fewer bytes and io.EOF where the object ends.
//
// The first read of a table remembers the version of its object, and all others must be of the same
// one. Otherwise their error is [set.ErrReplaced], and no bytes of two versions are mixed. With a Pin of
// the bucket's driver, the version is that of the store. Without one, it is the object's size and
// time of modification, which in some stores has a resolution of a second.
//
// When ctx is done, ReadAt soon returns an error that wraps that of ctx. The bucket's driver decides
// which requests are tried again.
//
// Errors name the table and the bytes. gcerrors.Code finds the driver's code in them, such as
// NotFound. If a store sends fewer bytes than it says, the error is io.ErrUnexpectedEOF.
func (s *Store) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	n, err := within(ctx, s.Timeout, func(ctx context.Context) (int, error) { return s.readAt(ctx, name, p, off) })
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, fmt.Errorf("cloud: read %d bytes at %d of table %q: %w", len(p), off, name, withDone(ctx, err))
}

// withDone returns err. If ctx is done, its error is in the chain, which drivers leave it out of.
func withDone(ctx context.Context, err error) error {
	if done := ctx.Err(); done != nil && !errors.Is(err, done) {
		return fmt.Errorf("%w: %w", done, err)
	}
	return err
}

func (s *Store) readAt(ctx context.Context, name string, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("the offset is negative")
	}
	if len(p) == 0 {
		return 0, nil
	}
	var opened *object // off may be behind its end: another object may be there now
	var o blob.ReaderOptions
	if first, ok := s.pinned.Load(name); ok {
		opened = first.(*object)
		o.BeforeRead = opened.require
	}
	r, err := s.Bucket.NewRangeReader(ctx, name, off, int64(len(p)), &o)
	if err != nil {
		return 0, s.refused(opened, off, err)
	}
	defer func() { // also if a Pin panics
		if failed := r.Close(); failed != nil && (err == nil || err == io.EOF) {
			err = failed
		}
	}()
	// The first read says which object it is. A store may ignore what a Pin requires: so this looks at what was sent.
	got := objectOf(r, s.Pins)
	first, _ := s.pinned.LoadOrStore(name, &got)
	if opened = first.(*object); !opened.same(&got) {
		return 0, fmt.Errorf("%w (%v, and was %v)", set.ErrReplaced, &got, opened)
	}
	return readBody(r, p, opened.size-off)
}

// refused returns what it means that the store refused a read from off on with err.
func (s *Store) refused(opened *object, off int64, err error) error {
	if opened != nil && gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return fmt.Errorf("%w (%w)", set.ErrReplaced, err)
	}
	for _, pin := range s.Pins {
		if !pin.PastEnd(err) {
			continue
		}
		if opened != nil && off < opened.size { // the object ends before that now
			return fmt.Errorf("%w (%w)", set.ErrReplaced, err)
		}
		return io.EOF
	}
	return err
}

// readBody fills p with the body of a read, which has left bytes at most up to the end of the
// object.
func readBody(r io.Reader, p []byte, left int64) (n int, err error) {
	want := max(0, min(int64(len(p)), left))
	n, err = io.ReadFull(r, p[:want])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, fmt.Errorf("the store sent %d bytes, want %d: %w", n, want, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return n, err
	}
	// To read the end of the body lets HTTP use the connection again.
	if more, err := r.Read(make([]byte, 1)); more > 0 {
		return 0, fmt.Errorf("the store sent more than %d bytes: it does not know requests for a range of bytes",
			want)
	} else if err != io.EOF && err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
