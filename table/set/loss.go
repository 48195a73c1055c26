package set

import (
	"context"
	"errors"
	"io/fs"

	"github.com/sievetable/sievetable/table"
)

// loss returns the Loss of a table that cannot be opened.
func (v *version) loss(m *member, err error) table.Loss {
	return table.Loss{File: m.Name, Offset: -1, From: m.Smallest, To: m.Largest, OlderShow: len(v.layers) > 1, Err: err}
}

// onLoss returns what calls onLoss for the data blocks of tables. nil stays nil.
func (v *version) onLoss(onLoss func(table.Loss) bool) func(table.Loss) bool {
	if onLoss == nil || len(v.layers) == 1 {
		return onLoss
	}
	return func(l table.Loss) bool {
		l.OlderShow = true
		return onLoss(l)
	}
}

// isLost reports whether a table is missing, corrupt or another one. A store that fails has lost nothing.
func isLost(err error) bool {
	return errors.Is(err, table.ErrCorrupt) || errors.Is(err, ErrMismatch) || errors.Is(err, fs.ErrNotExist)
}

// hidden returns the error for a key whose newest version can be in a layer that cannot be read. If a table of it is
// lost, older layers are asked for an older version.
func (l layers) hidden(ctx context.Context, key []byte, err error) error {
	if !isLost(err) {
		return err
	}
	h := &table.HiddenError{Err: err}
	switch older, olderErr := l.get(ctx, key); {
	case olderErr == nil:
		h.Value, h.Found = older, true
	case ctx.Err() != nil:
		return olderErr
	case olderErr != table.ErrNotFound:
		h.Err = errors.Join(err, olderErr)
	}
	return h
}
