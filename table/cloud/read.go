package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table/set"
)

// Forget makes the next read of a table accept whatever version its object then has.
func (s *Store) Forget(name string) { s.pinned.Delete(name) }

// ReadAt reads len(p) bytes of the table name at offset off, in one request unless the response is cut. As with
// [io.ReaderAt], a read past the end of the object returns fewer bytes and io.EOF.
//
// All reads of a table use the version of its object that the first one found. If the object has been replaced since,
// ReadAt returns [set.ErrReplaced]. With a Pin for the bucket's driver, versions are the store's. Without one, ReadAt
// compares sizes and modification times, which some stores round to a second.
//
// Errors name the table, the offset and the length. They wrap ctx's error if ctx is done, and the driver's, for
// [gcerrors.Code]. If the object does not exist, they wrap fs.ErrNotExist. If the store sends too few bytes, they wrap
// [io.ErrUnexpectedEOF].
func (s *Store) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	n, err := within(ctx, s.Timeout, func(ctx context.Context) (int, error) { return s.readAt(ctx, name, p, off) })
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, fmt.Errorf("cloud: read %d bytes at %d of table %q: %w", len(p), off, name, s.named(ctx, err))
}

// withDone returns err. If ctx is done, it adds ctx's error, which drivers omit.
func withDone(ctx context.Context, err error) error {
	if done := ctx.Err(); err != nil && done != nil && !errors.Is(err, done) {
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
	var opened *object // off may be past its end, if the object has been replaced by a longer one
	o := blob.ReaderOptions{BeforeRead: s.requireAny}
	if first, ok := s.pinned.Load(name); ok {
		if opened = first.(*object); opened.pin != nil {
			o.BeforeRead = opened.require
		}
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
	// Compare versions here too: a store may ignore the Pin's condition.
	got := objectOf(r, s.Pins)
	first, _ := s.pinned.LoadOrStore(name, &got)
	if opened = first.(*object); !opened.same(&got) {
		return 0, fmt.Errorf("%w (%v, and was %v)", set.ErrReplaced, &got, opened)
	}
	return readBody(r, p, opened.size-off)
}

// refused translates the store's refusal of a read at off: to io.EOF if off is past the end of the object, to
// set.ErrReplaced if the object has another version.
func (s *Store) refused(opened *object, off int64, err error) error {
	if opened != nil && gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return fmt.Errorf("%w (%w)", set.ErrReplaced, err)
	}
	if s.status(err) != http.StatusRequestedRangeNotSatisfiable {
		return err
	}
	if opened != nil && off < opened.size { // the object is shorter now
		return fmt.Errorf("%w (%w)", set.ErrReplaced, err)
	}
	return io.EOF
}

// readBody fills p with the body of a read. The object ends after left more bytes.
func readBody(r io.Reader, p []byte, left int64) (n int, err error) {
	want := max(0, min(int64(len(p)), left))
	n, err = io.ReadFull(r, p[:want])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, fmt.Errorf("the store sent %d of %d bytes: %w", n, want, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return n, bodyError{err}
	}
	// HTTP reuses the connection only if the body was read to its end.
	if more, err := r.Read(make([]byte, 1)); more > 0 {
		return 0, fmt.Errorf("the store sent more than %d bytes: it does not support range requests", want)
	} else if err != io.EOF && err != nil {
		return 0, bodyError{err}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
