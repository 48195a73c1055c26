package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// errUnknownFilter is in the error for a filter that no policy is known for.
var errUnknownFilter = errors.New("no policy of that name")

// readFilters opens the filters that the metaindex, which it is on, lists: the one
// by data blocks and the one of the whole table. A table without is no error. One
// that is not usable leaves the other in use.
func (r *Reader) readFilters(it *block.Iter) error {
	if r.o.IgnoreFilter {
		return nil
	}
	var unusable []error
	var used Handle // of the first one
	for _, kind := range []filterKind{byBlocks, wholeTable} {
		err := r.readFilter(it, kind, &used)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, errUnknownFilter) {
			return err
		}
		unusable = append(unusable, err)
	}
	return errors.Join(unusable...)
}

// filterKind is one of the ways in which a table has filters.
type filterKind struct {
	prefix string // of a policy's name in the metaindex
	block  BlockKind
}

var (
	byBlocks   = filterKind{format.FilterPrefix, FilterBlock}
	wholeTable = filterKind{format.TableFilterPrefix, TableFilterBlock}
)

// readFilter opens the filter of the first policy that the metaindex has one for. It
// must not be in the bytes of the one that is used already.
func (r *Reader) readFilter(it *block.Iter, kind filterKind, used *Handle) error {
	for _, p := range r.policies(kind) {
		for _, name := range filterNames(p) {
			key := []byte(kind.prefix + name)
			if !it.SeekGE(key) || !bytes.Equal(it.Key(), key) {
				continue
			}
			h, err := r.metaHandle(kind.block, it.Value())
			if err != nil {
				return err
			}
			if used.Length > 0 && h.overlaps(*used) {
				return r.corrupt(kind.block, h, "overlaps the block at %d", used.Offset)
			}
			*used = h
			return r.useFilter(kind, p, Part{Name: key, Handle: h}, h)
		}
	}
	if prefix := []byte(kind.prefix); it.SeekGE(prefix) && bytes.HasPrefix(it.Key(), prefix) {
		return fmt.Errorf("table: filter %s: %w", wire.Quote(it.Key()[len(prefix):]), errUnknownFilter)
	}
	return nil
}

// useFilter opens the filter at h, listed as part, for lookups.
func (r *Reader) useFilter(kind filterKind, p filter.Policy, part Part, h Handle) (err error) {
	if kind == wholeTable {
		r.tableFilterPart = part
		r.tableFilter, err = r.openTableFilter(p, h)
		return err
	}
	r.filterPart = part
	if r.filter, err = r.openFilter(p, h); err == nil {
		r.placeFilters()
	}
	return err
}

// placeFilters finds the filter of each data block.
func (r *Reader) placeFilters() {
	r.places = make([]filter.Place, r.index.len())
	for i, h := range r.index.handles {
		r.places[i] = r.filter.Place(h.Offset)
	}
}

// policies returns the policies that the Reader knows for a kind of filter, in the
// order in which they are used. TableBloom is none for data blocks: RocksDB once
// wrote other filters for them under its name.
func (r *Reader) policies(kind filterKind) []filter.Policy {
	all := append(slices.Clip(r.o.FilterPolicies), filter.NewTableBloom(0), filter.NewBloom(0))
	return slices.DeleteFunc(all, func(p filter.Policy) bool {
		_, table := p.(filter.TableBloom)
		return p == nil || table && kind == byBlocks
	})
}

// policy returns the first policy that goes by name, or nil. It copies no name:
// one out of a file may be very long.
func (r *Reader) policy(kind filterKind, name []byte) filter.Policy {
	for _, p := range r.policies(kind) {
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
	contents, err := r.readBlock(MetaindexBlock, h, &b)
	if err != nil {
		return nil, err
	}
	it, budget := new(block.Iter), block.Budget{Memory: metaindexKeyBudget.of(r.footerOffset)}
	if err := it.Open(contents, block.Order{}, &budget); err != nil {
		return nil, r.damaged(MetaindexBlock, h, err)
	}
	return it, nil
}

// metaHandle decodes a metaindex value: the handle of that part, a block which
// is neither data nor index.
func (r *Reader) metaHandle(kind BlockKind, value []byte) (Handle, error) {
	h, _, err := decodeHandle(value, r.footerOffset)
	if err != nil {
		return h, r.damaged(MetaindexBlock, r.footer.metaindex, err)
	}
	if _, data := r.index.overlapping(h); data || h.overlaps(r.footer.metaindex) || h.overlaps(r.footer.index) {
		return h, r.corrupt(kind, h, "overlaps another block")
	}
	return h, nil
}

// openFilter opens the filter block at h.
func (r *Reader) openFilter(p filter.Policy, h Handle) (*filter.BlockReader, error) {
	return openFilter(r, FilterBlock, h, p, filter.OpenBlock)
}

// openTableFilter opens the whole table's filter at h.
func (r *Reader) openTableFilter(p filter.Policy, h Handle) (*filter.TableReader, error) {
	return openFilter(r, TableFilterBlock, h, p, filter.OpenTable)
}

// openFilter opens what is at h.
func openFilter[F any](r *Reader, kind BlockKind, h Handle, p filter.Policy, open func([]byte, filter.Policy) (F, error)) (F, error) {
	var b buffers
	var none F
	contents, err := r.readBlock(kind, h, &b)
	if err != nil {
		return none, err
	}
	f, err := open(contents, p)
	if err != nil {
		return none, r.damaged(kind, h, err)
	}
	return f, nil
}
