package table

import (
	"cmp"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
)

// A metaBlock is a block that the metaindex lists.
type metaBlock struct {
	Handle
	kind        BlockKind
	policy      filter.Policy      // of a filter block, if it is known; else nil
	tablePolicy filter.TablePolicy // of a table filter, if it is known; else nil
	rank        int                // of the policy among those of the options; of another block, more
}

// checkMeta checks the metaindex, which it reads if it is nil, and each block that that lists.
func (v *verifier) checkMeta(listed metaindex) (err error) {
	if listed == nil {
		if listed, err = v.t.readMetaindex(new(buffers)); err != nil {
			return err
		}
	}
	if err := v.t.checkNoData(listed); err != nil {
		return err
	}
	v.add(listed.checkNames(&v.t.tableFile))
	if err := v.t.openFilterOnly(listed, &v.memory.buffers); err != nil {
		return err
	}
	var last metaBlock // the last one that was checked
	properties := v.t.propertiesHandle(listed)
	for _, m := range v.metaBlocks(listed) {
		switch {
		case m.Handle == last.Handle && m.kind == last.kind && m.kind != MetaBlock:
			// It is a filter under its second name.
		case m.known() && properties.Length > 0 && m.overlaps(properties):
			v.add(v.t.corrupt(m.kind, m.Handle, "overlaps the %s at %d", PropertiesBlock, properties.Offset))
		case last.Length > 0 && m.overlaps(last.Handle):
			v.add(v.t.corrupt(m.kind, m.Handle, "overlaps the %s at %d", last.kind, last.Offset))
		default:
			v.add(v.checkMetaBlock(m))
			last = m
		}
	}
	v.add(v.filters.checkExceptions())
	p, err := v.t.openPrefixer(listed, v.t.o)
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
func (v *verifier) metaBlocks(listed metaindex) []metaBlock {
	var blocks []metaBlock
	blockPolicies, tablePolicies := v.t.o.blockPolicies(listed), v.t.o.tablePolicies()
	for _, e := range listed {
		m := metaBlock{kind: MetaBlock, rank: math.MaxInt}
		switch string(e.name) {
		case format.PropertiesName, format.PrefixName:
			m.kind = PropertiesBlock
		case format.DigestName:
			m.kind = DigestBlock
		case format.NeverName:
			m.kind = NeverBlock
		}
		if policy, ok := blockFilters.policyOf(e.name); ok {
			m.kind = blockFilters.block
			m.policy, m.rank = policyOf(blockPolicies, policy)
		}
		if policy, ok := tableFilters.policyOf(e.name); ok {
			m.kind = tableFilters.block
			m.tablePolicy, m.rank = policyOf(tablePolicies, policy)
		}
		h, err := v.t.metaHandle(m.kind, e.handle)
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
	return m.policy != nil || m.tablePolicy != nil || m.kind == NeverBlock
}

// checkMetaBlock checks one block. If it is a filter, v.filters will check it for all keys.
func (v *verifier) checkMetaBlock(m metaBlock) error {
	switch m.kind {
	case PropertiesBlock:
		_, err := v.t.propertiesAt(m.Handle, &v.memory.buffers)
		return err
	case DigestBlock:
		return v.digest.read(v.t, m.Handle)
	case NeverBlock:
		return v.filters.addExceptions(m)
	}
	if !m.known() {
		_, err := v.t.readStored(m.kind, m.Handle, &v.memory.buffers)
		return err
	}
	if m.tablePolicy != nil {
		f, err := readFilter(&v.t.tableFile, m.kind, m.Handle, m.tablePolicy, filter.TablePolicy.Open)
		if err == nil {
			v.filters.filters = append(v.filters.filters, checkedFilter{metaBlock: m, contains: func(_ uint64, key []byte) bool { return f.Contains(key) }})
		}
		return err
	}
	f, err := readFilter(&v.t.tableFile, m.kind, m.Handle, m.policy, openFilterBlock)
	if err == nil {
		if damage := f.Check(); damage != nil {
			return v.t.damaged(m.kind, m.Handle, damage)
		}
		v.filters.filters = append(v.filters.filters, checkedFilter{metaBlock: m, contains: f.Contains})
	}
	return err
}
