// Package bbolt has bbolt keep pairs in a bucket of its own, for measuring. It is a B+ tree in a mapped
// file, without filters, compression or checksums of what it reads.
package bbolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// An Engine is bbolt.
type Engine struct{ Version string }

// Info says that it is bbolt.
func (e Engine) Info() engine.Info { return engine.Info{Name: "bbolt", Version: e.Version, Go: true} }

var bucket = []byte("pairs")

// Write writes a new file of the pairs, and removes it. It is not synced, as the sinks of the others
// are not.
func (e Engine) Write(p engine.Pairs, o engine.Options) error {
	if o.Snappy || o.Cores > 1 {
		return engine.ErrNone
	}
	s, err := e.store(p)
	if err != nil {
		return err
	}
	return s.Close()
}

// Build writes a file of the pairs, which is in the page cache from then on.
func (e Engine) Build(p engine.Pairs, _ engine.Options) (engine.Table, error) { return e.store(p) }

func (Engine) store(p engine.Pairs) (*store, error) {
	dir, err := os.MkdirTemp("", "bbolt-")
	if err != nil {
		return nil, err
	}
	s := &store{dir}
	if err := s.put(p); err != nil {
		return nil, errors.Join(fmt.Errorf("writing a bucket: %w", err), s.Close())
	}
	return s, nil
}

// NewFilters is an error: there are none.
func (Engine) NewFilters(int, int) (engine.Filters, error) { return nil, engine.ErrNone }

// A store is a file with a bucket, in a directory that Close removes.
type store struct{ dir string }

func (s *store) open(o bbolt.Options) (*bbolt.DB, error) {
	return bbolt.Open(filepath.Join(s.dir, "db"), 0o600, &o)
}

// put writes all pairs in one transaction, in their order, to full pages.
func (s *store) put(p engine.Pairs) error {
	db, err := s.open(bbolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(bucket)
		if err != nil {
			return err
		}
		b.FillPercent = 1
		return p.Append(b.Put)
	})
	return errors.Join(err, db.Close())
}

// Open maps the file, for warm reads only: it has no cache to do without.
func (s *store) Open(m engine.Mode) (engine.Reader, error) {
	if m != engine.Warm {
		return nil, engine.ErrNone
	}
	db, err := s.open(bbolt.Options{ReadOnly: true})
	return reader{db}, err
}

// OpenClose is not measured: there is neither index nor filter to read.
func (*store) OpenClose() error { return engine.ErrNone }

// Resident is not measured, for the same reason.
func (*store) Resident() (int64, error) { return 0, engine.ErrNone }

func (s *store) Close() error { return os.RemoveAll(s.dir) }
