package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table/set"
)

// WriteManifest sends a manifest to the bucket, as the object key, such as [set.ManifestName]. It
// replaces an earlier object of that name in one step: readers see the old one or the new one. Put
// its tables first: WriteManifest does not check that they are there.
func WriteManifest(ctx context.Context, bucket *blob.Bucket, key string, m *set.Manifest) error {
	var b bytes.Buffer
	if err := set.WriteManifest(&b, m); err != nil {
		return err
	}
	o := &blob.WriterOptions{ContentType: "application/jsonl"}
	if err := bucket.WriteAll(ctx, key, b.Bytes(), o); err != nil {
		return fmt.Errorf("cloud: write manifest %q, of %d bytes: %w", key, b.Len(), withDone(ctx, err))
	}
	return nil
}

// ReadManifest reads the manifest in the object key of the bucket, and checks it as
// [set.ReadManifest] does.
func ReadManifest(ctx context.Context, bucket *blob.Bucket, key string) (*set.Manifest, error) {
	r, err := bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, fmt.Errorf("cloud: read manifest %q: %w", key, withDone(ctx, err))
	}
	m, err := set.ReadManifest(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("cloud: read manifest %q: %w", key, withDone(ctx, err))
	}
	return m, nil
}
