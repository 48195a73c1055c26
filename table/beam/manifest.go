package setio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sievetable/sievetable/table/set"
)

// readManifest reads the manifest. If there is none, it is nil.
func readManifest(ctx context.Context, st store) (*set.Manifest, error) {
	f, err := st.open(ctx, set.ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("setio: manifest %s: %w", st.path(set.ManifestName), err)
	}
	defer f.Close() // it was only read
	m, err := set.ReadManifest(f)
	if err != nil {
		return nil, fmt.Errorf("setio: earlier manifest %s: %w: remove it, or write to another directory",
			st.path(set.ManifestName), err)
	}
	return m, nil
}

// writeManifest writes the manifest, and returns its path.
func writeManifest(ctx context.Context, st store, m *set.Manifest) (string, error) {
	var b bytes.Buffer
	if err := set.WriteManifest(&b, m); err != nil {
		return "", fmt.Errorf("setio: %w", err)
	}
	path := st.path(set.ManifestName)
	if err := st.put(ctx, set.ManifestName, b.Bytes()); err != nil {
		return "", fmt.Errorf("setio: write the manifest %s: %w", path, err)
	}
	return path, nil
}
