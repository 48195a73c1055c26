package table

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
)

// maxMetaBlocks is far more than any engine lists.
const maxMetaBlocks = 1000

// metaBlock is a block that the metaindex lists.
type metaBlock struct {
	handle
	part   string
	policy filter.Policy // nil, unless it is a filter that there is one for
}

// meta checks each block that the metaindex lists, and keeps the filters.
func (v *verifier) meta() error {
	it, err := v.r.readMetaindex()
	if err != nil {
		return err
	}
	if err := v.r.checkEmpty(it); err != nil {
		return err
	}
	var last metaBlock // of those that are looked at
	for _, m := range v.metaBlocks(it) {
		switch {
		case m.handle == last.handle && m.part == last.part && m.part != partMeta:
			// A filter under its second name.
		case last.length > 0 && m.overlaps(last.handle):
			v.add(v.r.corrupt(m.part, m.handle, "overlaps the %s at %d", last.part, last.offset))
		default:
			v.add(v.metaBlock(m))
			last = m
		}
	}
	return nil
}

// metaBlocks returns the blocks that the metaindex lists, in the order of the
// file; of one block's names that with a policy first.
func (v *verifier) metaBlocks(it *block.Iter) []metaBlock {
	var blocks []metaBlock
	n := 0
	for ok := it.First(); ok && !v.full(); ok = it.Next() {
		if n++; n > maxMetaBlocks {
			v.add(v.r.corrupt(partMetaindex, v.r.footer.metaindex, "more than %d entries", maxMetaBlocks))
			break
		}
		m := metaBlock{part: partMeta}
		if string(it.Key()) == format.PropertiesName {
			m.part = partProperties
		}
		for _, kind := range []filterKind{byBlocks, wholeTable} {
			if name, isFilter := bytes.CutPrefix(it.Key(), []byte(kind.prefix)); isFilter {
				m.part, m.policy = kind.part, v.r.policy(kind, name)
			}
		}
		h, err := v.r.metaHandle(m.part, it.Value())
		if err != nil {
			v.add(err)
			continue
		}
		m.handle = h
		blocks = append(blocks, m)
	}
	slices.SortStableFunc(blocks, func(a, b metaBlock) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.length, b.length), cmp.Compare(b.known(), a.known()))
	})
	return blocks
}

// known is 1 if there is a policy for the block, and else 0.
func (m metaBlock) known() int {
	if m.policy == nil {
		return 0
	}
	return 1
}

// metaBlock checks one block, and keeps it if it is a filter.
func (v *verifier) metaBlock(m metaBlock) error {
	if m.policy == nil {
		_, err := v.r.readStored(m.part, m.handle, &v.buffers)
		return err
	}
	if m.part == partTableFilter {
		f, err := v.r.openTableFilter(m.policy, m.handle)
		if err == nil {
			v.filters = append(v.filters, checkedFilter{m, func(_ uint64, key []byte) bool { return f.Contains(key) }})
		}
		return err
	}
	f, err := v.r.openFilter(m.policy, m.handle)
	if err == nil {
		v.filters = append(v.filters, checkedFilter{m, f.Contains})
	}
	return err
}
