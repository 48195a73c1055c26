package set

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// LoadManifest reads the manifest in the file name of the Store, such as [ManifestName]. If it is
// damaged, the error is [table.ErrCorrupt]. If there is none, it is fs.ErrNotExist.
func LoadManifest(ctx context.Context, s Store, name string) (*Manifest, error) {
	m, err := readStored(ctx, s, name)
	if err == nil && m.Manifest == nil {
		err = fmt.Errorf("set: manifest %s: %w", s.Path(name), fs.ErrNotExist)
	}
	return m.Manifest, err
}

// A storedManifest is a manifest of a Store, as it was read.
type storedManifest struct {
	*Manifest        // nil: there is none
	name      string // of the file
	content   []byte // of the file
}

// readStored reads the manifest in a file of a Store.
func readStored(ctx context.Context, s Store, name string) (m storedManifest, err error) {
	m.name = name
	f, err := s.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		m.content, err = io.ReadAll(f)
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		if m.Manifest, err = ReadManifest(bytes.NewReader(m.content)); err != nil {
			err = corruptError{err}
		}
	}
	if err != nil {
		err = fmt.Errorf("set: manifest %s: %w", s.Path(name), err)
	}
	return m, err
}

// replace writes m in the place of the manifest that was read, unless it is the same.
func (old storedManifest) replace(ctx context.Context, s Store, m *Manifest) error {
	var b bytes.Buffer
	if err := WriteManifest(&b, m); err != nil {
		return err
	}
	if bytes.Equal(old.content, b.Bytes()) {
		return nil
	}
	var err error
	r, replaces := s.(Replacer)
	if replaces {
		err = r.Replace(ctx, old.name, old.content, b.Bytes())
	} else {
		err = s.Put(ctx, old.name, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("set: write the manifest %s: %w", s.Path(old.name), err)
	}
	if replaces {
		return checkStays(ctx, s, storedManifest{m, old.name, b.Bytes()})
	}
	return nil
}

// checkStays checks that the tables of a new manifest are still there. Either this look or the last
// one of a [Sweep] that runs at the same time notices a table that is listed and gone. If another
// program has replaced the manifest since, its tables do not matter.
func checkStays(ctx context.Context, s Store, m storedManifest) error {
	missing, err := firstMissing(ctx, s, m.All())
	if err != nil {
		return fmt.Errorf("set: manifest %s is written, but it is not known whether its tables are still there: %w",
			s.Path(m.name), err)
	}
	if missing == nil {
		return nil
	}
	if now, err := readStored(ctx, s, m.name); err == nil && !bytes.Equal(now.content, m.content) {
		return nil
	}
	return fmt.Errorf("set: table %s, which the new manifest %s lists: %w", s.Path(missing.Name), s.Path(m.name), ErrGone)
}
