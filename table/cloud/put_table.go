package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table/set"
)

// PutTable uploads a table. The object appears when the upload is complete. If r fails or ctx is done, no object
// appears. In S3, invisible parts of a large table may remain: let a lifecycle rule delete them.
func (s *Store) PutTable(ctx context.Context, t set.Table, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.Bucket.NewWriter(ctx, t.Name, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return withDone(ctx, err)
	}
	_, err = io.Copy(w, r)
	if err == nil {
		return withDone(ctx, w.Close())
	}
	err = withDone(ctx, err)
	cancel() // without it, Close would create an object
	w.Close()
	return err
}

// Begin starts writing tables. They are temporary files until their names, which include their SHA-256, are known.
func (s *Store) Begin(context.Context) (set.Pending, error) {
	dir, err := os.MkdirTemp("", "sievetable-*.tmp")
	return &pending{s: s, dir: dir}, err
}

type pending struct {
	s   *Store
	dir string // of temporary files
	n   int    // of tables
}

func (p *pending) path(i int) string { return filepath.Join(p.dir, fmt.Sprintf("%06d.ldb", i)) }

func (p *pending) Create(context.Context) (io.WriteCloser, error) {
	p.n++
	return os.Create(p.path(p.n - 1))
}

// Publish uploads each table, unless an object with its name and size exists.
func (p *pending) Publish(ctx context.Context, tables []set.Table) error {
	for i, t := range tables {
		if there, err := p.s.Stat(ctx, t.Name); err == nil && there.Size == t.Size {
			continue
		}
		f, err := os.Open(p.path(i))
		if err == nil {
			err = errors.Join(set.PutTable(ctx, p.s, t, f), f.Close())
		}
		if err != nil {
			return fmt.Errorf("cloud: upload table %s: %w", p.s.Path(t.Name), err)
		}
	}
	return nil // the files stay until Abort, in case Sweep removes a table meanwhile
}

func (p *pending) Abort() error { return os.RemoveAll(p.dir) }
