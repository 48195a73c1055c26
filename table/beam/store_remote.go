package setio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// A remoteStore is a directory of a file system of Beam.
type remoteStore struct {
	files filesystem.Interface
	dir   string // without a slash at the end
}

func (s *remoteStore) Close() error { return s.files.Close() }

func (s *remoteStore) path(name string) string { return s.dir + "/" + name }

// prepare does nothing: writing a file makes its directory.
func (s *remoteStore) prepare() error { return nil }

// lock returns an error: such file systems have no locks.
func (s *remoteStore) lock(context.Context) (func(), error) { return nil, errors.ErrUnsupported }

func (s *remoteStore) list(ctx context.Context) ([]string, error) {
	paths, err := s.files.List(ctx, s.path("*"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range paths {
		names = append(names, path.Base(p))
	}
	return names, nil
}

// open lists the file first: file systems do not agree on the error for a file that is not there.
func (s *remoteStore) open(ctx context.Context, name string) (io.ReadCloser, error) {
	found, err := s.files.List(ctx, s.path(name))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fs.ErrNotExist
	}
	return s.files.OpenRead(ctx, s.path(name))
}

func (s *remoteStore) size(ctx context.Context, name string) (int64, error) {
	return s.files.Size(ctx, s.path(name))
}

func (s *remoteStore) modified(ctx context.Context, name string) (time.Time, error) {
	files, ok := s.files.(filesystem.LastModifiedGetter)
	if !ok {
		return time.Time{}, errors.ErrUnsupported
	}
	return files.LastModified(ctx, s.path(name))
}

func (s *remoteStore) put(ctx context.Context, name string, content []byte) error {
	return s.send(ctx, name, bytes.NewReader(content))
}

// send writes a file. Object stores show an object when all of it is there. In other file systems the
// file has a temporary name until then, if they can rename.
func (s *remoteStore) send(ctx context.Context, name string, content io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // so that nothing appears of a file that is not closed
	to := s.path(name)
	renamer, renames := s.files.(filesystem.Renamer)
	if s.isObjectStore() {
		renames = false
	}
	if renames {
		to = s.path(fmt.Sprintf("sievetable-%s-%016x.tmp", owner, rand.Uint64()))
	}
	w, err := s.files.OpenWrite(ctx, to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, content); err != nil {
		return err
	}
	if err := w.Close(); err != nil || !renames {
		return err
	}
	return renamer.Rename(ctx, to, s.path(name))
}

// isObjectStore reports whether files appear in one step, and renaming one is to copy it.
func (s *remoteStore) isObjectStore() bool {
	return strings.HasPrefix(s.dir, "gs://") || strings.HasPrefix(s.dir, "s3://")
}

// create begins a file on the worker's disk: its name in the store is known when all of it is written.
func (s *remoteStore) create() (draft, error) {
	f, err := os.CreateTemp("", "sievetable-*.tmp")
	return &remoteDraft{f, s}, err
}

func (s *remoteStore) remove(ctx context.Context, name string) error {
	files, ok := s.files.(filesystem.Remover)
	if !ok {
		return fmt.Errorf("remove %s: its file system cannot remove files: %w", s.path(name), errors.ErrUnsupported)
	}
	return files.Remove(ctx, s.path(name))
}

// A remoteDraft is a file on the worker's disk.
type remoteDraft struct {
	*os.File // nil when it is removed
	store    *remoteStore
}

// commit sends the file, unless it is there: names of tables have their SHA-256.
func (d *remoteDraft) commit(ctx context.Context, name string, size int64) (found bool, err error) {
	if there, err := d.store.size(ctx, name); err == nil && there == size {
		return true, d.abort()
	}
	if _, err := d.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	if err := d.store.send(ctx, name, d.File); err != nil {
		return false, fmt.Errorf("write %s: %w", d.store.path(name), err)
	}
	return false, d.abort()
}

func (d *remoteDraft) abort() error {
	if d.File == nil {
		return nil
	}
	f := d.File
	d.File = nil
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
