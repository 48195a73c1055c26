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
	for _, read := range []func(*block.Iter, *Handle) error{r.readBlockFilter, r.readTableFilter} {
		err := read(it, &used)
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

// readBlockFilter opens the filter block that the metaindex lists, if any.
func (r *Reader) readBlockFilter(it *block.Iter, used *Handle) error {
	p, h, err := findFilter(r, it, byBlocks, r.blockPolicies(), used, &r.filterPart)
	if err != nil || h.Length == 0 {
		return err
	}
	if r.filter, err = r.openFilter(p, h); err == nil {
		r.placeFilters()
	}
	return err
}

// readTableFilter opens the filter of the whole table that the metaindex lists, if any.
func (r *Reader) readTableFilter(it *block.Iter, used *Handle) error {
	p, h, err := findFilter(r, it, wholeTable, r.tablePolicies(), used, &r.tableFilterPart)
	if err != nil || h.Length == 0 {
		return err
	}
	r.tableFilter, err = r.openTableFilter(p, h)
	return err
}

// findFilter returns the first of the policies that the metaindex lists a filter for, and
// where that filter is, as part too. The handle is empty if there is none. The filter
// must not be in the bytes of the one that is used already.
func findFilter[P namedPolicy](r *Reader, it *block.Iter, kind filterKind, policies []P, used *Handle, part *Part) (p P, h Handle, err error) {
	for _, p := range policies {
		for _, name := range filterNames(p) {
			key := []byte(kind.prefix + name)
			if !it.SeekGE(key) || !bytes.Equal(it.Key(), key) {
				continue
			}
			h, err := r.metaHandle(kind.block, it.Value())
			if err != nil {
				return p, h, err
			}
			if used.Length > 0 && h.overlaps(*used) {
				return p, h, r.corrupt(kind.block, h, "overlaps the block at %d", used.Offset)
			}
			*used, *part = h, Part{Name: key, Handle: h}
			return p, h, nil
		}
	}
	if prefix := []byte(kind.prefix); it.SeekGE(prefix) && bytes.HasPrefix(it.Key(), prefix) {
		err = fmt.Errorf("table: filter %s: %w", wire.Quote(it.Key()[len(prefix):]), errUnknownFilter)
	}
	return p, h, err
}

// placeFilters finds the filter of each data block.
func (r *Reader) placeFilters() {
	r.places = make([]filter.Span, r.index.len())
	for i, h := range r.index.handles {
		r.places[i] = r.filter.Span(h.Offset)
	}
}

// blockPolicies returns the policies that the Reader knows for filter blocks, in the
// order in which they are used.
func (r *Reader) blockPolicies() []filter.Policy {
	all := append(slices.Clip(r.o.FilterPolicies), filter.NewBloom(0))
	return slices.DeleteFunc(all, func(p filter.Policy) bool { return p == nil })
}

// tablePolicies returns those for filters of whole tables.
func (r *Reader) tablePolicies() []filter.TablePolicy {
	all := append(slices.Clip(r.o.TableFilterPolicies), filter.NewTableBloom(0))
	return slices.DeleteFunc(all, func(p filter.TablePolicy) bool { return p == nil })
}

// policyOf returns the first of the policies that has the name, or nil. It copies no
// name: one out of a file may be very long.
func policyOf[P namedPolicy](policies []P, name []byte) (none P) {
	for _, p := range policies {
		if slices.ContainsFunc(filterNames(p), func(n string) bool { return n == string(name) }) {
			return p
		}
	}
	return none
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
	return openFilter(r, FilterBlock, h, func(contents []byte) (*filter.BlockReader, error) {
		return filter.NewBlockReader(contents, p)
	})
}

// openTableFilter opens the whole table's filter at h.
func (r *Reader) openTableFilter(p filter.TablePolicy, h Handle) (filter.TableFilter, error) {
	return openFilter(r, TableFilterBlock, h, p.Open)
}

// openFilter opens what is at h.
func openFilter[F any](r *Reader, kind BlockKind, h Handle, open func([]byte) (F, error)) (F, error) {
	var b buffers
	var none F
	contents, err := r.readBlock(kind, h, &b)
	if err != nil {
		return none, err
	}
	f, err := open(contents)
	if err != nil {
		return none, r.damaged(kind, h, err)
	}
	return f, nil
}
