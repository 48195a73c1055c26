package set

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// Verify reads all tables and checks them, one after the other: the SHA-256 of each, all that
// [table.Reader.Verify] checks, and that size, entries and the range of keys are those of the
// manifest. It reads each table twice, by large reads, and takes memory for one more table. It
// does not use the Cache or the Readers of lookups.
//
// When a table is done, Verify calls report with its findings joined into one error, or nil if
// all is well. report may be nil. The error that Verify returns joins the findings of all
// tables. Each has the name of its table. If ctx is done, Verify ends with its error and reports
// no further table.
func (s *Set) Verify(ctx context.Context, report func(t Table, err error)) error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	var findings []error
	for i, m := range v.members {
		err := m.verify(ctx)
		switch {
		case ctx.Err() != nil:
			return errors.Join(append(findings, ctx.Err())...)
		case s.current.Load() == nil:
			return table.ErrClosed
		case err != nil:
			findings = append(findings, err)
		}
		if report != nil {
			report(v.manifest.Tables[i], err)
		}
	}
	return errors.Join(findings...)
}

// verify checks one table.
func (m *member) verify(ctx context.Context) error {
	tail, err := m.readTail(ctx)
	if err != nil {
		return err // all else would be about another file
	}
	src := &sequential{m: m, ctx: ctx, tail: tail, hash: sha256.New()}
	o := m.s.o.Reader
	o.Name, o.Cache, o.Metrics = m.Name, nil, nil
	r, err := table.NewReader(src, m.Size, &o)
	if err != nil {
		return errors.Join(err, src.checkSum())
	}
	differs := m.checkReader(r, src)
	src.open = true
	if err := errors.Join(differs, r.Verify(), src.checkSum()); err != nil {
		return err
	}
	src.restart()
	return m.checkKeys(r)
}

// checkKeys compares all keys of a sound table with the manifest.
func (m *member) checkKeys(r *table.Reader) error {
	if r.FilterOnly() {
		return nil // checkReader has done what can be done
	}
	entries := uint64(0)
	var last []byte
	var err error
	for key := range r.All(&table.IterOptions{NoFill: true}, &err) {
		if entries++; entries == 1 && !bytes.Equal(key, m.Smallest) {
			return m.mismatch("smallest", "the first key is %s, want %s", wire.Quote(key), wire.Quote(m.Smallest))
		}
		last = append(last[:0], key...)
	}
	switch {
	case err != nil:
		return err
	case entries != m.Entries:
		return m.mismatch("entries", "the table has %d, want %d", entries, m.Entries)
	case !bytes.Equal(last, m.Largest):
		return m.mismatch("largest", "the last key is %s, want %s", wire.Quote(last), wire.Quote(m.Largest))
	}
	return nil
}
