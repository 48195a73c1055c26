package table

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"hash"
	"slices"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// Verify reads and checks the whole table: checksums, the form of each block, the order of keys, overlaps, the
// exceptions and digest, and that filters rule out no key. If it returns nil, no lookup or iterator with the same
// options fails because of the file's bytes. It cannot detect a change with right checksums, or check a filter without
// its policy.
//
// The error joins all findings: use errors.As on each element of its Unwrap() []error. Corrupt parts are
// [*CorruptionError]; if there are too many findings, the last one says so. Verify takes the memory of a second
// Reader.
func (r *Reader) Verify() error {
	_, err := r.VerifyKeys(nil)
	return err
}

// VerifyKeys is like Verify, and calls see with each key of each sound data block, in file order, with the block's
// offset and length. all reports whether these are all keys of the table. see must not modify or keep the key.
func (r *Reader) VerifyKeys(see func(key []byte, offset, length uint64)) (all bool, err error) {
	src, err := r.reads()
	if err != nil {
		return false, err
	}
	second := &source{o: r.o, src: src, size: r.size}
	second.o.SkipChecksums, second.o.Metrics, second.o.Cache = false, nil, nil
	second.fileOptions = second.o.file()
	v := verifier{see: see, closed: &r.closed}
	mapped, _ := src.(*tablefile.Mapping)
	err = mapped.Guard(func() error { return v.verify(second) })
	if r.closed.Load() {
		return false, ErrClosed
	}
	if _, failed := r.table(); err == nil && errors.Is(failed, ErrUnknownFilter) {
		err = errors.Join(failed)
	}
	return v.sawAll, err
}

// verify checks a table that is not open.
func (v *verifier) verify(s *source) error {
	t, listed, err := s.readIndex(&v.meta)
	if err == nil {
		err = t.file.Index.CheckAll(func(int, []byte, tablefile.Handle) {})
	}
	if err != nil {
		return errors.Join(err)
	}
	v.t, v.trailers = t, sha256.New()
	v.keyBudget, v.hashBudget = t.file.KeyBudget, 1<<28
	v.budget = t.file.Allow(findingsBudget)
	v.negativesBudget = v.budget
	v.memory.SetAhead(verifyReadAhead)
	v.add(t.file.FooterErr)
	v.add(v.checkMeta(listed))
	v.sawAll = t.hidden == nil
	for i := 0; i < t.file.Index.N && !v.full() && !v.closed.Load(); i++ {
		v.memory.ReadAhead(&t.file, i, t.file.Index.N)
		v.add(v.checkDataBlock(i))
	}
	if v.full() {
		v.sawAll = false
		v.findings = append(v.findings, errors.New("table: too many findings: the rest of the table was not checked"))
	} else {
		v.add(v.checkDigest())
	}
	return errors.Join(append(v.findings, v.filterFindings()...)...)
}

// A verifier checks a table and collects the findings.
type verifier struct {
	see    func(key []byte, offset, length uint64) // see VerifyKeys; may be nil
	closed *atomic.Bool                            // the Reader is closed, and the rest need not be checked
	sawAll bool                                    // see was called with all keys so far

	t         *openTable
	memory    tablefile.Memory
	meta      tablefile.Scratch // for the metaindex and properties, which are read more than once
	c         tablefile.Cursor
	keyBudget int // bytes of memory that may still be taken for keys

	findings []error
	budget   int // bytes of memory that may still be taken for findings

	filterChecks

	trailers     hash.Hash        // of the data blocks
	digest       []byte           // contents of the digest block; nil if there is none, or if a data block is corrupt
	digestHandle tablefile.Handle // of that block
}

// verifyReadAhead is the number of bytes of data blocks that Verify reads at once.
const verifyReadAhead = 256 << 10

// findingsBudget bounds the memory for findings. The findings about filters get as much again.
var findingsBudget = tablefile.Budget{Fixed: 1 << 18, PerByte: 1}

// add adds a finding, unless err is nil.
func (v *verifier) add(err error) {
	if err != nil {
		v.findings = append(v.findings, err)
		v.budget -= 256 + 4*len(err.Error()) // about what an error takes
		if damage, ok := err.(*CorruptionError); ok {
			v.budget -= len(damage.KeysAfter) + len(damage.KeysUpTo)
		}
	}
}

// full reports whether there is no memory left for findings.
func (v *verifier) full() bool { return v.budget < 0 }

// checkDataBlock checks data block i, and the filters for each of its keys.
func (v *verifier) checkDataBlock(i int) error {
	if err := v.c.Open(&v.t.file, i, &v.memory, &v.keyBudget); err != nil {
		v.digest = nil // the corrupt block is reported instead
		v.sawAll = false
		return err
	}
	h, err := v.t.file.Index.Handle(i)
	if err != nil {
		return err
	}
	for ok := v.see != nil && v.c.First(); ok; ok = v.c.Next() {
		v.see(v.c.Key(), h.Offset, h.Length)
	}
	v.trailers.Write(v.memory.Trailer())
	return v.checkFilters(&v.c, h)
}

// checkDigest compares the digest block with the data blocks, when all of them were read.
func (v *verifier) checkDigest() error {
	got := v.trailers.Sum(nil)
	if v.digest == nil || bytes.Equal(got, v.digest) {
		return nil
	}
	return v.t.file.Corrupt(tablefile.DigestBlock, v.digestHandle,
		"it has %x, not %x, the SHA-256 of the data blocks' trailers: data blocks are from another table", v.digest, got)
}

// checkMeta checks the blocks that the metaindex lists. If listed is nil, it reads the metaindex first.
func (v *verifier) checkMeta(listed tablefile.Metaindex) (err error) {
	if listed == nil {
		if listed, err = v.t.file.ReadMetaindex(&v.meta); err != nil {
			return err
		}
	}
	if v.t.file.Index.N == 0 {
		if err := v.t.openFilterOnly(listed, &v.meta); err != nil {
			return err
		}
	}
	v.checkMetaBlocks(v.t.metaBlocks(listed, nil))
	v.add(v.checkExceptions())
	p, err := v.t.openPrefixer(listed, &v.meta)
	if p != nil {
		v.addPrefixes(p)
	}
	if isReadError(err) {
		return err
	}
	return nil // corruption is reported already
}

// checkMetaBlocks checks each block: the properties first, and then the others in the order of the file. If a block
// is listed twice, the name that a Reader uses comes first.
func (v *verifier) checkMetaBlocks(blocks []metaBlock) {
	slices.SortStableFunc(blocks, func(a, b metaBlock) int {
		return cmp.Or(cmp.Compare(min(a.rank, 0), min(b.rank, 0)),
			cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Length, b.Length), cmp.Compare(a.rank, b.rank))
	})
	var checked []*metaBlock
	for i := range blocks {
		b, err := &blocks[i], blocks[i].Err
		if err == nil {
			if b.isIn(checked) {
				continue
			}
			err = v.t.checkApart(b, checked)
		}
		if err == nil {
			err = v.checkMetaBlock(b)
			checked = append(checked, b)
		}
		v.add(err)
	}
}

// isIn reports whether b is one of others under a second name, as filters and properties can have.
func (b *metaBlock) isIn(others []*metaBlock) bool {
	return b.Kind != tablefile.MetaBlock && slices.ContainsFunc(others, func(other *metaBlock) bool {
		return b.Handle == other.Handle && b.Kind == other.Kind
	})
}

// checkMetaBlock checks one block. If it is a filter, it will be checked for all keys.
func (v *verifier) checkMetaBlock(b *metaBlock) (err error) {
	var filters layout.Filters
	switch {
	case b.Kind == tablefile.PropertiesBlock:
		_, err = v.t.readProperties(b.Handle, &v.meta)
		return err
	case b.Kind == tablefile.DigestBlock:
		v.digest, err = v.t.file.ReadDigest(b.Handle)
		v.digestHandle = b.Handle
		return err
	case b.Kind != tablefile.NeverBlock && b.policy == nil:
		_, err = v.t.file.ReadStored(b.Kind, b.Handle, &v.memory.Scratch)
		return err
	}
	if err := v.t.readFilter(&filters, b); err != nil {
		return err
	}
	if filters.Blocks != nil {
		if damage := filters.Blocks.Check(); damage != nil {
			return v.t.file.Damaged(b.Kind, b.Handle, damage)
		}
	}
	v.addFilter(b, &filters)
	return nil
}
