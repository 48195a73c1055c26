package set

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// PutTable stores the table t, of which r reads the bytes. If these do not have the size and the
// SHA-256 of t, the error is [ErrMismatch], and nothing is stored.
func PutTable(ctx context.Context, s Store, t Table, r io.Reader) error {
	r = &checkedTable{ctx: ctx, r: r, t: t, sum: sha256.New()}
	if p, ok := s.(TablePutter); ok {
		return p.PutTable(ctx, t, r)
	}
	p, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	err = putPending(ctx, p, t, r)
	return errors.Join(err, p.Abort()) // which does nothing after Publish
}

func putPending(ctx context.Context, p Pending, t Table, r io.Reader) error {
	w, err := p.Create(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	return p.Publish(ctx, []Table{t})
}

// A checkedTable reads a table. At its end, it compares the bytes with the line in the manifest.
type checkedTable struct {
	ctx context.Context // after it is done, reads fail
	r   io.Reader
	t   Table
	n   int64
	sum hash.Hash
}

func (c *checkedTable) Read(p []byte) (n int, err error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err = c.r.Read(p)
	c.n += int64(n)
	c.sum.Write(p[:n])
	if err != io.EOF {
		return n, err
	}
	if c.n != c.t.Size {
		return n, c.t.mismatch("size", "it has %d bytes, want %d as its line in the manifest says", c.n, c.t.Size)
	}
	if sum := hex.EncodeToString(c.sum.Sum(nil)); sum != c.t.SHA256 {
		return n, c.t.mismatch("sha256", "it is %s, not %s as its line in the manifest says", sum, c.t.SHA256)
	}
	return n, io.EOF
}
