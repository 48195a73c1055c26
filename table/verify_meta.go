package table

import (
	"cmp"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// A metaBlock is a block that the metaindex lists.
type metaBlock struct {
	tablefile.Handle
	kind        tablefile.Kind
	policy      filter.Policy      // of a filter block, if it is known; else nil
	tablePolicy filter.TablePolicy // of a table filter, if it is known; else nil
	rank        int                // of the policy among those of the options; of another block, more
}

// checkMeta checks the metaindex, which it reads if it is nil, and each block that that lists.
func (v *verifier) checkMeta(listed tablefile.Metaindex) (err error) {
	if listed == nil {
		if listed, err = v.t.file.ReadMetaindex(new(tablefile.Scratch)); err != nil {
			return err
		}
	}
	if err := v.t.file.CheckNoData(listed); err != nil {
		return err
	}
	v.add(v.t.file.CheckNames(listed))
	if err := v.t.openFilterOnly(listed, &v.memory.Scratch); err != nil {
		return err
	}
	var last metaBlock // the last one that was checked
	properties := v.t.meta().propertiesHandle(listed)
	for _, m := range v.metaBlocks(listed) {
		switch {
		case m.Handle == last.Handle && m.kind == last.kind && m.kind != tablefile.MetaBlock:
			// It is a filter under its second name.
		case m.known() && properties.Length > 0 && m.Overlaps(properties):
			v.add(v.t.file.Corrupt(m.kind, m.Handle, "overlaps the %s at %d", tablefile.PropertiesBlock, properties.Offset))
		case last.Length > 0 && m.Overlaps(last.Handle):
			v.add(v.t.file.Corrupt(m.kind, m.Handle, "overlaps the %s at %d", last.kind, last.Offset))
		default:
			v.add(v.checkMetaBlock(m))
			last = m
		}
	}
	v.add(v.filters.checkExceptions())
	p, err := v.t.meta().openPrefixer(listed)
	if p != nil {
		v.filters.addPrefixes(p)
	}
	if unread(err) {
		return err
	}
	return nil // what is damaged is said
}

// metaBlocks returns the blocks that the metaindex lists, in the order of the file. If it
// lists a block twice, the name comes first that a Reader takes.
func (v *verifier) metaBlocks(listed tablefile.Metaindex) []metaBlock {
	var blocks []metaBlock
	blockPolicies, tablePolicies := v.t.o.blockPolicies(listed), v.t.o.tablePolicies()
	for _, e := range listed {
		m := metaBlock{kind: tablefile.MetaBlock, rank: math.MaxInt}
		switch string(e.Name) {
		case format.PropertiesName, format.PrefixName:
			m.kind = tablefile.PropertiesBlock
		case format.DigestName:
			m.kind = tablefile.DigestBlock
		case format.NeverName:
			m.kind = tablefile.NeverBlock
		}
		if policy, ok := blockFilters.policyOf(e.Name); ok {
			m.kind = blockFilters.block
			m.policy, m.rank = policyOf(blockPolicies, policy)
		}
		if policy, ok := tableFilters.policyOf(e.Name); ok {
			m.kind = tableFilters.block
			m.tablePolicy, m.rank = policyOf(tablePolicies, policy)
		}
		h, err := v.t.file.MetaHandle(m.kind, e.Handle)
		if err != nil {
			v.add(err)
			continue
		}
		m.Handle = h
		blocks = append(blocks, m)
	}
	slices.SortStableFunc(blocks, func(a, b metaBlock) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Length, b.Length), cmp.Compare(a.rank, b.rank))
	})
	return blocks
}

// known reports whether the block is a filter of a known policy, or the exceptions of one.
func (m metaBlock) known() bool {
	return m.policy != nil || m.tablePolicy != nil || m.kind == tablefile.NeverBlock
}

// checkMetaBlock checks one block. If it is a filter, v.filters will check it for all keys.
func (v *verifier) checkMetaBlock(m metaBlock) error {
	switch m.kind {
	case tablefile.PropertiesBlock:
		_, err := v.t.meta().propertiesAt(m.Handle, &v.memory.Scratch)
		return err
	case tablefile.DigestBlock:
		return v.digest.read(v.t, m.Handle)
	case tablefile.NeverBlock:
		return v.filters.addExceptions(m)
	}
	if !m.known() {
		_, err := v.t.file.ReadStored(m.kind, m.Handle, &v.memory.Scratch)
		return err
	}
	if m.tablePolicy != nil {
		f, err := readFilter(v.t.meta(), m.kind, m.Handle, m.tablePolicy, filter.TablePolicy.Open)
		if err == nil {
			v.filters.filters = append(v.filters.filters, checkedFilter{metaBlock: m, contains: func(_ uint64, key []byte) bool { return f.Contains(key) }})
		}
		return err
	}
	f, err := readFilter(v.t.meta(), m.kind, m.Handle, m.policy, openFilterBlock)
	if err == nil {
		if damage := f.Check(); damage != nil {
			return v.t.file.Damaged(m.kind, m.Handle, damage)
		}
		v.filters.filters = append(v.filters.filters, checkedFilter{metaBlock: m, contains: f.Contains})
	}
	return err
}
