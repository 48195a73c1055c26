package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/wire"
)

// errUnknownFilter is in the error for a filter that no policy is known for.
var errUnknownFilter = errors.New("no policy of that name")

// readFilter opens the filter of the first policy that the metaindex has one
// for. A table without any filter is no error.
func (r *Reader) readFilter() error {
	metaindex, err := r.readMetaindex()
	if err != nil {
		return err
	}
	it := metaindex.NewIter()
	for _, p := range append(slices.Clip(r.o.FilterPolicies), filter.NewBloom(0)) {
		if p == nil {
			continue
		}
		for _, name := range filterNames(p) {
			key := []byte(filterPrefix + name)
			if it.SeekGE(key) && bytes.Equal(it.Key(), key) {
				return r.openFilter(p, it.Value())
			}
		}
	}
	if prefix := []byte(filterPrefix); it.SeekGE(prefix) && bytes.HasPrefix(it.Key(), prefix) {
		return fmt.Errorf("table: filter %s: %w", wire.Quote(it.Key()[len(prefix):]), errUnknownFilter)
	}
	return nil
}

// readMetaindex reads the metaindex, which is ordered bytewise in every table.
func (r *Reader) readMetaindex() (block.Block, error) {
	h := r.footer.metaindex
	var b buffers
	contents, err := r.readBlock(partMetaindex, h, &b)
	if err != nil {
		return block.Block{}, err
	}
	metaindex, err := block.Open(contents, nil)
	if err != nil {
		return block.Block{}, &CorruptionError{Block: partMetaindex, Offset: int64(h.offset), Err: err}
	}
	return metaindex, nil
}

// openFilter opens the filter block that a metaindex value points to.
func (r *Reader) openFilter(p filter.Policy, value []byte) error {
	h, err := decodeWholeHandle(value, r.limit)
	if err != nil {
		return corrupt(partMetaindex, r.footer.metaindex.offset, "filter: %w", err)
	}
	if _, data := r.index.overlapping(h); data || h.overlaps(r.footer.metaindex) || h.overlaps(r.footer.index) {
		return corrupt(partFilter, h.offset, "overlaps another block")
	}
	var b buffers
	contents, err := r.readBlock(partFilter, h, &b)
	if err != nil {
		return err
	}
	if r.filter, err = filter.OpenBlock(contents, p); err != nil {
		return &CorruptionError{Block: partFilter, Offset: int64(h.offset), Err: err}
	}
	r.filterAt = h
	return nil
}
