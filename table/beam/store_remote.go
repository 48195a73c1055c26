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

// A remoteStore is a directory of a file system of Beam.
type remoteStore struct {
	files filesystem.Interface
	dir   string // without a slash at the end
}

func (s *remoteStore) Path(name string) string { return s.dir + "/" + name }

// List returns names only: each size and time would take a request.
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

// Open lists the file first: file systems do not agree on the error for a file that is not there.
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

// send writes a file. Object stores show an object when all of it is there. In other file systems the
// file has a temporary name until then, if they can rename.
func (s *remoteStore) send(ctx context.Context, name string, content io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // so that nothing appears of a file that is not closed
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

// isObjectStore reports whether files appear in one step, and renaming one is to copy it.
func (s *remoteStore) isObjectStore() bool {
	return strings.HasPrefix(s.dir, "gs://") || strings.HasPrefix(s.dir, "s3://")
}

func (s *remoteStore) Remove(ctx context.Context, name string) error {
	files, ok := s.files.(filesystem.Remover)
	if !ok {
		return fmt.Errorf("remove %s: its file system cannot remove files: %w", s.Path(name), errors.ErrUnsupported)
	}
	return files.Remove(ctx, s.Path(name))
}

func (s *remoteStore) Begin(context.Context) (set.Pending, error) {
	return &remoteTables{store: s}, nil
}

// remoteTables are files on the worker's disk: their names in the store are known when all is written.
type remoteTables struct {
	store *remoteStore
	files []*tempfile.File
}

// An openFile stays open until it is sent.
type openFile struct{ io.Writer }

func (openFile) Close() error { return nil }

func (p *remoteTables) Create(context.Context) (io.WriteCloser, error) {
	f := new(tempfile.File)
	p.files = append(p.files, f)
	return openFile{f}, f.Create("")
}

// Publish sends the tables, unless they are there: their names have their SHA-256.
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
