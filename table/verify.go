package table

import (
	"crypto/sha256"
	"errors"
	"io"
	"sync/atomic"
)

// Verify reads the whole table and checks it. The error joins all findings, as errors.Join
// does; nil means that there are none. Verify checks
//
//   - the checksum and the form of each block, also with SkipChecksums;
//   - that the footer's padding is zeros, which no lookup depends on;
//   - the order of keys, within each block and across blocks, and that separators fit;
//   - that no two blocks share bytes;
//   - that each filter is sound, and denies no key of the table, also with IgnoreFilter;
//   - that a filter which holds prefixes denies none of the prefixes of keys, if their function is known;
//   - that the exceptions of WriterOptions.Never are keys that the table filter has, and that none of
//     them is a key of the table;
//   - that the digest block, if there is one, is that of the data blocks.
//
// If Verify returns nil, no lookup, iterator or Properties of a Reader with the same options
// returns an error that comes from the bytes of the file.
//
// Of a filter with an unknown policy, and of meta blocks other than the properties, it checks the
// checksum only. It does not check bytes that are in no block. Of a table with a filter only it
// cannot check that the filter has its keys.
//
// A finding is a *CorruptionError for each damaged part. There is also one for each filter
// and data block if the filter denies keys of the block; it counts them, and names the first
// three. These findings
// are no CorruptionErrors:
//
//   - An error of the source.
//   - A filter that denies most keys but has them without their last 8 bytes. The table is
//     most likely from a database, and needs an InternalComparer.
//   - Not all is checked: there are too many findings, or checking the filters would take
//     too long.
//
// There can be findings of all these sorts. The error's method Unwrap() []error returns them
// one by one; use errors.As on each.
//
// Verify takes as much memory as a second Reader, and up to half a MiB plus twice the size
// of the file for findings. It does not use the Cache, and Metrics do not count its work.
func (r *Reader) Verify() error {
	if r.closed.Load() {
		return ErrClosed
	}
	o := r.o
	o.SkipChecksums, o.Metrics, o.Cache = false, nil, nil
	src := r.source()
	if src == nil {
		return ErrClosed
	}
	err := verify(src, r.size, &o, &r.closed)
	if r.closed.Load() {
		return ErrClosed
	}
	return err
}

// verify opens the table a second time, and checks it.
func verify(src io.ReaderAt, size int64, o *ReaderOptions, closed *atomic.Bool) (err error) {
	m, _ := src.(*mapping)
	defer m.leave(m.enter(), &err)
	t, listed, err := newIndexTable(src, size, o, closed, new(buffers))
	if err != nil {
		return errors.Join(err)
	}
	if err := t.index.checkAll(func(int, []byte, Handle) {}); err != nil {
		return errors.Join(err)
	}
	v := newVerifier(t)
	v.add(t.footerErr)
	v.add(v.checkMeta(listed))
	for i := 0; i < t.index.len() && !v.full(); i++ {
		v.add(v.checkDataBlock(i))
	}
	if !v.full() {
		v.add(v.digest.check(t))
	}
	return v.result()
}

// A verifier checks a table and collects the findings.
type verifier struct {
	t         *openTable
	memory    blockMemory
	c         cursor
	keyBudget int // bytes of memory that may still be taken for keys

	findings []error
	budget   int // bytes of memory that may still be taken for findings

	filters filterVerifier
	digest  digestVerifier
}

func newVerifier(t *openTable) *verifier {
	budget := findingsBudget.forFile(t.footerOffset)
	return &verifier{
		t:         t,
		keyBudget: dataKeyBudget.forFile(t.footerOffset),
		budget:    budget,
		filters:   filterVerifier{t: t, hashBudget: 1 << 28, budget: budget},
		digest:    digestVerifier{sum: sha256.New()},
	}
}

// add adds a finding, unless err is nil.
func (v *verifier) add(err error) {
	if err != nil {
		v.findings = append(v.findings, err)
		v.budget -= 256 + 4*len(err.Error()) // about what it takes to make one
		if damage, ok := err.(*CorruptionError); ok {
			v.budget -= len(damage.KeysAfter) + len(damage.KeysUpTo)
		}
	}
}

// full reports whether there is no memory left for findings.
func (v *verifier) full() bool { return v.budget < 0 }

// checkDataBlock checks data block i, and the filters for each of its keys.
func (v *verifier) checkDataBlock(i int) error {
	if err := v.c.open(v.t, i, &v.memory, &v.keyBudget); err != nil {
		v.digest.listed = false // what is damaged is said
		return err
	}
	v.digest.sum.Write(lastTrailer(v.memory.buffers.block))
	h, err := v.t.index.handle(i)
	if err != nil {
		return err
	}
	return v.filters.checkDataBlock(&v.c, h)
}

// result returns all findings as one error.
func (v *verifier) result() error {
	if v.full() {
		v.findings = append(v.findings, errors.New("table: too many findings: the rest of the table was not checked"))
	}
	return errors.Join(append(v.findings, v.filters.findings()...)...)
}
