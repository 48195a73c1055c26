package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Put writes a table of the keys and values of seq, sends it to the bucket, and returns its line in
// a manifest. The keys must be in increasing order. If o is nil, all options are the defaults.
// Errors of keys and options are as those of [set.TableWriter].
//
// The name of the object tells its contents: it is the SHA-256 in hexadecimal digits, and .ldb, or
// .filter if the table has a filter only. So the same entries and options always make the same
// object. An object of that name and size that is there already is not sent again. Since the name
// is known at the end only, the table is a temporary file until then.
//
// If Put fails, or ctx is done before it ends, no object is left. In S3, parts of a large table can
// be left, which nobody sees: let a lifecycle rule delete them. A seq that cannot go on must cancel
// ctx before it ends: otherwise the table would have only what came so far. Cancel it best by the
// function of [context.WithCancelCause], whose cause Put returns.
func Put(
	ctx context.Context, bucket *blob.Bucket, o *table.WriterOptions, seq iter.Seq2[[]byte, []byte],
) (t set.Table, err error) {
	f, err := os.CreateTemp("", "sievetable-*.ldb")
	if err != nil {
		return set.Table{}, fmt.Errorf("cloud: put a table: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if t, err = writeTable(ctx, f, o, seq); err != nil {
		return set.Table{}, fmt.Errorf("cloud: put a table: %w", err)
	}
	t.Name = objectName(t, o != nil && o.FilterOnly)
	return putFile(ctx, bucket, f, t)
}

// writeTable writes a table of seq to w, and returns its line.
func writeTable(
	ctx context.Context, w io.Writer, o *table.WriterOptions, seq iter.Seq2[[]byte, []byte],
) (set.Table, error) {
	tw, err := set.NewTableWriter(w, o)
	if err != nil {
		return set.Table{}, err
	}
	for key, value := range seq {
		if err = tw.Append(key, value); err != nil || ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return set.Table{}, errors.Join(err, tw.Abort())
	}
	return tw.Close()
}

// PutFile sends the table in a file to the bucket, under the name that [Put] would give it, and
// returns its line in a manifest. It reads the file twice: [set.Describe] reads it with the options
// o, and then it is sent. A file that changes meanwhile is an error. So is a table that has a
// filter only, since Describe cannot know its keys: write such a table by Put.
func PutFile(
	ctx context.Context, bucket *blob.Bucket, path string, o *table.ReaderOptions,
) (set.Table, error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return set.Table{}, fmt.Errorf("cloud: put a table: %w", err)
	}
	defer f.Close() // it was only read
	t, err := set.Describe(f, info.Size(), o)
	if err != nil {
		return set.Table{}, fmt.Errorf("cloud: put table %q: %w", path, err)
	}
	t.Name = objectName(t, false)
	return putFile(ctx, bucket, f, t)
}

// objectName returns the name of the object of a table.
func objectName(t set.Table, filterOnly bool) string {
	if filterOnly {
		return t.SHA256 + ".filter"
	}
	return t.SHA256 + ".ldb"
}

// putFile sends the table in f, unless the bucket has it. It returns t.
func putFile(ctx context.Context, bucket *blob.Bucket, f *os.File, t set.Table) (set.Table, error) {
	there, err := bucket.Attributes(ctx, t.Name)
	if err == nil && there.Size == t.Size {
		return t, nil
	}
	if err == nil || gcerrors.Code(err) == gcerrors.NotFound {
		err = send(ctx, bucket, io.NewSectionReader(f, 0, t.Size), t)
	}
	if err != nil {
		return set.Table{}, fmt.Errorf("cloud: put table %q, of %d bytes: %w", t.Name, t.Size, withDone(ctx, err))
	}
	return t, nil
}

// errOtherBytes is in the chain of send's error if the bytes do not have the SHA-256.
var errOtherBytes = errors.New("the file must not change, put it again")

// send sends the table that r reads. The object is there when all of it has arrived, and has the
// SHA-256 of t.
func send(ctx context.Context, bucket *blob.Bucket, r io.Reader, t set.Table) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := bucket.NewWriter(ctx, t.Name, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(w, io.TeeReader(r, sum))
	if got := hex.EncodeToString(sum.Sum(nil)); err == nil && got != t.SHA256 {
		err = fmt.Errorf("its SHA-256 was %s when it was sent: %w", got, errOtherBytes)
	}
	if err != nil {
		cancel() // else Close would leave an object of what was sent
		w.Close()
		return err
	}
	return w.Close()
}
