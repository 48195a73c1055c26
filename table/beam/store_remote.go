package setio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/sievetable/sievetable/internal/tempfile"
	"github.com/sievetable/sievetable/table/set"
)

// A remoteStore is a directory in a file system of Beam.
type remoteStore struct {
	files filesystem.Interface
	dir   string // without a trailing slash
}

func (s *remoteStore) Path(name string) string { return s.dir + "/" + name }

// List returns only names, since sizes and times would take a request each.
func (s *remoteStore) List(ctx context.Context) ([]set.File, error) {
	paths, err := s.files.List(ctx, s.Path("*"))
	if err != nil {
		return nil, err
	}
	var files []set.File
	for _, p := range paths {
		files = append(files, set.File{Name: path.Base(p), Size: -1})
	}
	return files, nil
}

func (s *remoteStore) Stat(ctx context.Context, name string) (f set.File, err error) {
	f.Name = name
	if f.Size, err = s.files.Size(ctx, s.Path(name)); err != nil {
		return f, err
	}
	if files, ok := s.files.(filesystem.LastModifiedGetter); ok {
		f.Modified, err = files.LastModified(ctx, s.Path(name))
	}
	return f, err
}

// Open lists the file first, since file systems return different errors for a missing file.
func (s *remoteStore) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	found, err := s.files.List(ctx, s.Path(name))
	if err == nil && len(found) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return s.files.OpenRead(ctx, s.Path(name))
}

func (s *remoteStore) Put(ctx context.Context, name string, content []byte) error {
	return s.send(ctx, name, bytes.NewReader(content))
}

// send writes a file. In object stores, it appears when complete. In other file systems that can rename, it has a
// temporary name until then.
func (s *remoteStore) send(ctx context.Context, name string, content io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // so that an unclosed file does not appear
	to := s.Path(name)
	renamer, renames := s.files.(filesystem.Renamer)
	if renames = renames && !s.isObjectStore(); renames {
		to = s.Path(fmt.Sprintf("sievetable-%s-%016x.tmp", owner, rand.Uint64()))
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
	return renamer.Rename(ctx, to, s.Path(name))
}

// isObjectStore reports whether files appear complete, and renaming means copying.
func (s *remoteStore) isObjectStore() bool {
	return strings.HasPrefix(s.dir, "gs://") || strings.HasPrefix(s.dir, "s3://")
}

// Remove removes a file. In some file systems, a missing file is an error, but not here, since a step may run twice.
func (s *remoteStore) Remove(ctx context.Context, name string) error {
	files, ok := s.files.(filesystem.Remover)
	if !ok {
		return fmt.Errorf("remove %s: the file system does not support it: %w", s.Path(name), errors.ErrUnsupported)
	}
	err := files.Remove(ctx, s.Path(name))
	if err == nil {
		return nil
	}
	if found, failed := s.files.List(ctx, s.Path(name)); failed == nil && len(found) == 0 {
		return nil
	}
	return err
}

func (s *remoteStore) Begin(context.Context) (set.Pending, error) {
	return &remoteTables{store: s}, nil
}

// remoteTables are files on the worker's disk, since their final names are known only when they are complete.
type remoteTables struct {
	store *remoteStore
	files []*tempfile.File
}

// An openFile ignores Close: it stays open until it is sent.
type openFile struct{ io.Writer }

func (openFile) Close() error { return nil }

func (p *remoteTables) Create(context.Context) (io.WriteCloser, error) {
	f := new(tempfile.File)
	p.files = append(p.files, f)
	return openFile{f}, f.Create("")
}

// Publish sends each table, unless a file with its name, which includes its SHA-256, and size exists.
func (p *remoteTables) Publish(ctx context.Context, tables []set.Table) error {
	for i, t := range tables {
		if there, err := p.store.Stat(ctx, t.Name); err == nil && there.Size == t.Size {
			continue
		}
		if err := p.store.send(ctx, t.Name, io.NewSectionReader(p.files[i], 0, t.Size)); err != nil {
			return fmt.Errorf("write %s: %w", p.store.Path(t.Name), err)
		}
	}
	return p.Abort()
}

func (p *remoteTables) Abort() (err error) {
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	p.files = nil
	return err
}
