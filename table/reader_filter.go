package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
)

// errUnknownFilter is in the error for a filter that no policy is known for.
var errUnknownFilter = errors.New("no policy of that name")

// readFilter opens the first filter in the metaindex that has a policy. A table
// without a filter is no error.
func (r *Reader) readFilter() error {
	metaindex, err := r.readMetaindex()
	if err != nil {
		return err
	}
	var unknown error
	for it := metaindex.NewIter(); it.Next(); {
		name, ok := strings.CutPrefix(string(it.Key()), filterPrefix)
		if !ok {
			continue
		}
		if p := r.policy(name); p != nil {
			return r.openFilter(p, it.Value())
		}
		unknown = fmt.Errorf("table: filter %q: %w", name, errUnknownFilter)
	}
	return unknown
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

// policy returns the policy that goes by name, or nil.
func (r *Reader) policy(name string) filter.Policy {
	for _, p := range append(slices.Clip(r.o.FilterPolicies), filter.NewBloom(0)) {
		if p != nil && slices.Contains(filterNames(p), name) {
			return p
		}
	}
	return nil
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
