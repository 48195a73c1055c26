package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/set"
)

// SendFile sends the table in a file to the bucket, as the object t.Name, and replaces what has that
// name. t is the table's line in a manifest: the bytes of the file must have its size and its SHA-256.
// So the table may have a filter only, which [PutFile] refuses. SendFile reads the file once, and asks
// neither for what is in it nor for what is in the bucket.
//
// If SendFile fails, or ctx is done before it ends, the bucket is as before, but for parts of a large
// table, as after [Put]. The error for other bytes than t says is [set.ErrMismatch].
func SendFile(ctx context.Context, bucket *blob.Bucket, path string, t set.Table) error {
	f, info, err := regular.Open(path)
	if err != nil {
		return fmt.Errorf("cloud: send a table: %w", err)
	}
	defer f.Close() // it was only read
	if info.Size() != t.Size {
		return fmt.Errorf("cloud: send table %q: it has %d bytes, want %d as its line in the manifest says: %w",
			path, info.Size(), t.Size, set.ErrMismatch)
	}
	err = send(ctx, bucket, io.NewSectionReader(f, 0, t.Size), t)
	if errors.Is(err, errOtherBytes) {
		return fmt.Errorf("cloud: send table %q: its SHA-256 is not %s as its line in the manifest says: %w",
			path, t.SHA256, set.ErrMismatch)
	}
	if err != nil {
		return fmt.Errorf("cloud: send table %q as %q: %w", path, t.Name, withDone(ctx, err))
	}
	return nil
}
