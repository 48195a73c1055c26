package set

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// A Store is where the files of a set are: a directory ([DirStore]), a bucket, or any other file
// system. [Builder], [Publish] and [Sweep] change the set in it. Names are those of files beside
// the manifest. A Store must be safe for concurrent use. It can also be a [Locker] or a [Replacer].
type Store interface {
	// Path returns what users call the file name.
	Path(name string) string

	// List returns all files, and what Begin of a process that was killed has left.
	List(ctx context.Context) ([]File, error)

	// Stat describes a file. If its time of modification is not known, Modified is zero.
	Stat(ctx context.Context, name string) (File, error)

	// Open opens a file for reading. If there is none, the error is fs.ErrNotExist.
	Open(ctx context.Context, name string) (io.ReadCloser, error)

	// Put writes a small file, or replaces it in one step.
	Put(ctx context.Context, name string, content []byte) error

	// Begin begins tables that have no names yet. It creates the Store, if that is possible.
	Begin(ctx context.Context) (Pending, error)

	// Remove removes a file, if there is one. If the Store can remove none, the error is
	// errors.ErrUnsupported.
	Remove(ctx context.Context, name string) error
}

// A File is a file of a [Store]. If List of the Store knows only the name, Size is -1 and Modified
// is zero: Stat is called where they are needed.
type File struct {
	Name     string
	Size     int64     // in bytes
	Modified time.Time // of the last change
}

// Pending are tables that have no names yet. Its calls come in the order Create* (Publish | Abort).
type Pending interface {
	// Create begins a table. Close of the writer completes it.
	Create(ctx context.Context) (io.WriteCloser, error)

	// Publish stores the tables under their names, in the order of Create. All are closed. A file
	// of the same name and size may stay: it is the same table.
	Publish(ctx context.Context, tables []Table) error

	// Abort removes the tables that have no names. Afterwards, and after Publish, it does nothing.
	// Any goroutine may call it at any time.
	Abort() error
}

// A Locker is a [Store] that only one Builder or Sweep changes at a time. Lock waits until the
// Store is not locked. If it cannot be locked, the error is errors.ErrUnsupported: then leases take
// the place of the lock.
type Locker interface {
	Lock(ctx context.Context) (unlock func(), err error)
}

// A Replacer is a [Store] that can replace a file under a condition, such as objects by their ETag.
// If the file's content is not old, which is nil if there was no file, Replace changes nothing and
// returns [ErrChanged]. The manifest is written by Replace, if the Store has it: without a lock
// too, none of several layers that are added at once is lost.
type Replacer interface {
	Replace(ctx context.Context, name string, old, content []byte) error
}

// ErrChanged is the error of a [Replacer] for a file that another program has changed.
var ErrChanged = errors.New("another program has changed it")

// A storedManifest is the manifest of a Store, as it was read.
type storedManifest struct {
	*Manifest        // nil: there is none
	content   []byte // of the file
}

// readStored reads the manifest of a Store.
func readStored(ctx context.Context, s Store) (m storedManifest, err error) {
	f, err := s.Open(ctx, ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("set: manifest %s: %w", s.Path(ManifestName), err)
	}
	m.content, err = io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return m, fmt.Errorf("set: manifest %s: %w", s.Path(ManifestName), err)
	}
	if m.Manifest, err = ReadManifest(bytes.NewReader(m.content)); err != nil {
		return m, fmt.Errorf("set: earlier manifest %s: %w: remove it, or write to another directory",
			s.Path(ManifestName), err)
	}
	return m, nil
}

// replace writes m in the place of the manifest that was read.
func (old storedManifest) replace(ctx context.Context, s Store, m *Manifest) error {
	var b bytes.Buffer
	if err := WriteManifest(&b, m); err != nil {
		return err
	}
	var err error
	if r, ok := s.(Replacer); ok {
		err = r.Replace(ctx, ManifestName, old.content, b.Bytes())
	} else {
		err = s.Put(ctx, ManifestName, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("set: write the manifest %s: %w", s.Path(ManifestName), err)
	}
	return nil
}
