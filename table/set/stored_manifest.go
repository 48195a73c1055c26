package set

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// LoadManifest reads the manifest in the file name of the Store. A corrupt manifest is [table.ErrCorrupt], one of a
// newer version errors.ErrUnsupported, and a missing one fs.ErrNotExist.
func LoadManifest(ctx context.Context, s Store, name string) (*Manifest, error) {
	if err := checkStore(s); err != nil {
		return nil, err
	}
	m, err := readStored(ctx, s, name)
	if err == nil && m.Manifest == nil {
		err = fmt.Errorf("set: manifest %s: %w", s.Path(name), fs.ErrNotExist)
	}
	return m.Manifest, err
}

// A storedManifest is a manifest of a Store, as it was read.
type storedManifest struct {
	*Manifest        // nil if there is none
	name      string // of the file
	content   []byte // of the file
}

// readStored reads the manifest in a file of a Store. It reads another program's file, which may be large, only up to
// the first line that a manifest cannot have.
func readStored(ctx context.Context, s Store, name string) (m storedManifest, err error) {
	m.name = name
	f, err := s.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		var content bytes.Buffer
		lines := newLineReader(io.TeeReader(f, &content))
		m.Manifest, err = lines.read()
		m.content, err = content.Bytes(), cmp.Or(lines.readError(), err)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		err = fmt.Errorf("set: manifest %s: %w", s.Path(name), err)
	}
	return m, err
}

// names returns the names of the tables.
func (old storedManifest) names() nameSet {
	names := nameSet{}
	names.addTables(old.Manifest)
	return names
}

// replace replaces the manifest that was read by m, unless they are equal. For a Replacer, it checks in any case
// that the tables exist: an earlier try may have written m and then found a table missing.
func (old storedManifest) replace(ctx context.Context, s Store, m *Manifest) error {
	var b bytes.Buffer
	err := WriteManifest(&b, m)
	if err != nil {
		return err
	}
	r, replaces := s.(Replacer)
	switch {
	case bytes.Equal(old.content, b.Bytes()):
	case replaces:
		err = r.Replace(ctx, old.name, old.content, b.Bytes())
	default:
		err = old.put(ctx, s, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("set: write the manifest %s: %w", s.Path(old.name), err)
	}
	if replaces {
		return checkStillExist(ctx, s, old.name, m)
	}
	return nil
}

// put writes a manifest. After an error, the Store may have it all the same: a response was lost, or a directory could
// not be synced. The error then says so.
func (old storedManifest) put(ctx context.Context, s Store, content []byte) error {
	err := s.Put(ctx, old.name, content)
	if err == nil {
		return nil
	}
	ctx, cancel := outlasting(ctx)
	defer cancel()
	switch now, failed := readStored(ctx, s, old.name); {
	case failed != nil:
		return fmt.Errorf("it may or may not have been written: %w (and reading it again failed: %v)", err, failed)
	case bytes.Equal(now.content, content):
		return fmt.Errorf("it was written, but a crash may undo that: %w", err)
	}
	return err
}

// checkStillExist checks that the tables of a new manifest still exist. If a concurrent [Sweep] removes a listed table,
// either this check or Sweep's last one notices. If another program has replaced the manifest since, tables matter only
// if it lists them too, as below a newer layer.
func checkStillExist(ctx context.Context, s Store, name string, m *Manifest) error {
	missing, err := firstMissing(ctx, s, m, nil)
	if err == nil && missing != nil {
		if now, failed := readStored(ctx, s, name); failed == nil {
			missing, err = firstMissing(ctx, s, m, now.names())
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("set: manifest %s was written, but looking for its tables failed: %w",
			s.Path(name), err)
	case missing != nil:
		return fmt.Errorf("set: table %s, listed in the new manifest %s: %w", s.Path(missing.Name), s.Path(name), ErrGone)
	}
	return nil
}
