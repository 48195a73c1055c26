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

// readFilter opens the filter of the first policy that the metaindex, which it
// is on, has one for. A table without any filter is no error.
func (r *Reader) readFilter(it *block.Iter) error {
	if r.o.IgnoreFilter {
		return nil
	}
	for _, p := range r.policies() {
		for _, name := range filterNames(p) {
			key := []byte(filterPrefix + name)
			if !it.SeekGE(key) || !bytes.Equal(it.Key(), key) {
				continue
			}
			h, err := r.metaHandle(partFilter, it.Value())
			if err != nil {
				return err
			}
			if r.filter, err = r.openFilter(p, h); err == nil {
				r.placeFilters()
			}
			return err
		}
	}
	if prefix := []byte(filterPrefix); it.SeekGE(prefix) && bytes.HasPrefix(it.Key(), prefix) {
		return fmt.Errorf("table: filter %s: %w", wire.Quote(it.Key()[len(prefix):]), errUnknownFilter)
	}
	return nil
}

// placeFilters finds the filter of each data block.
func (r *Reader) placeFilters() {
	r.places = make([]filter.Place, r.index.len())
	for i, h := range r.index.handles {
		r.places[i] = r.filter.Place(h.offset)
	}
}

// policies returns the policies that the Reader knows, in the order in which
// they are used.
func (r *Reader) policies() []filter.Policy {
	all := append(slices.Clip(r.o.FilterPolicies), filter.NewBloom(0))
	return slices.DeleteFunc(all, func(p filter.Policy) bool { return p == nil })
}

// policy returns the first policy that goes by name, or nil. It copies no name:
// one out of a file may be very long.
func (r *Reader) policy(name []byte) filter.Policy {
	for _, p := range r.policies() {
		if slices.ContainsFunc(filterNames(p), func(n string) bool { return n == string(name) }) {
			return p
		}
	}
	return nil
}

// readMetaindex reads the metaindex, which is ordered bytewise in every table.
func (r *Reader) readMetaindex() (*block.Iter, error) {
	h := r.footer.metaindex
	var b buffers
	contents, err := r.readBlock(partMetaindex, h, &b)
	if err != nil {
		return nil, err
	}
	it, budget := new(block.Iter), block.Budget{Memory: metaindexKeyBudget.of(r.footerOffset)}
	if err := it.Open(contents, nil, &budget); err != nil {
		return nil, &CorruptionError{Block: partMetaindex, Offset: int64(h.offset), Err: err}
	}
	return it, nil
}

// metaHandle decodes a metaindex value: the handle of that part, a block which
// is neither data nor index.
func (r *Reader) metaHandle(part string, value []byte) (handle, error) {
	h, err := decodeWholeHandle(value, r.footerOffset)
	if err != nil {
		return h, &CorruptionError{Block: partMetaindex, Offset: int64(r.footer.metaindex.offset), Err: err}
	}
	if _, data := r.index.overlapping(h); data || h.overlaps(r.footer.metaindex) || h.overlaps(r.footer.index) {
		return h, corrupt(part, h.offset, "overlaps another block")
	}
	return h, nil
}

// openFilter opens the filter block at h.
func (r *Reader) openFilter(p filter.Policy, h handle) (*filter.BlockReader, error) {
	var b buffers
	contents, err := r.readBlock(partFilter, h, &b)
	if err != nil {
		return nil, err
	}
	f, err := filter.OpenBlock(contents, p)
	if err != nil {
		return nil, &CorruptionError{Block: partFilter, Offset: int64(h.offset), Err: err}
	}
	return f, nil
}
