package table

import (
	"cmp"
	"slices"

	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// checkMeta checks the metaindex, which it reads if it is nil, and each block that that lists.
func (v *verifier) checkMeta(listed tablefile.Metaindex) (err error) {
	if listed == nil {
		if listed, err = v.t.file.ReadMetaindex(new(tablefile.Scratch)); err != nil {
			return err
		}
	}
	if err := v.t.openFilterOnly(listed, &v.memory.Scratch); err != nil {
		return err
	}
	v.checkMetaBlocks(v.t.meta().metaBlocks(listed, nil))
	v.add(v.checkExceptions())
	p, err := v.t.meta().openPrefixer(listed)
	if p != nil {
		v.addPrefixes(p)
	}
	if unread(err) {
		return err
	}
	return nil // what is damaged is said
}

// checkMetaBlocks checks each block: the properties first, and then the others in the order of the file. If a block is
// listed twice, the name comes first that a Reader takes.
func (v *verifier) checkMetaBlocks(blocks []metaBlock) {
	slices.SortStableFunc(blocks, func(a, b metaBlock) int {
		return cmp.Or(cmp.Compare(min(a.rank, 0), min(b.rank, 0)),
			cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Length, b.Length), cmp.Compare(a.rank, b.rank))
	})
	var checked []*metaBlock
	for i := range blocks {
		b, err := &blocks[i], blocks[i].err
		if err == nil {
			if b.isIn(checked) {
				continue
			}
			err = v.t.meta().checkApart(b, checked)
		}
		if err == nil {
			err = v.checkMetaBlock(b)
			checked = append(checked, b)
		}
		v.add(err)
	}
}

// isIn reports whether it is one of others under its second name, as filters and properties have.
func (b *metaBlock) isIn(others []*metaBlock) bool {
	return b.kind != tablefile.MetaBlock && slices.ContainsFunc(others, func(other *metaBlock) bool {
		return b.Handle == other.Handle && b.kind == other.kind
	})
}

// checkMetaBlock checks one block. If it is a filter, it will be checked for all keys.
func (v *verifier) checkMetaBlock(b *metaBlock) (err error) {
	var filters layout.Filters
	switch {
	case b.kind == tablefile.PropertiesBlock:
		_, err = v.t.meta().propertiesAt(b.Handle, &v.memory.Scratch)
		return err
	case b.kind == tablefile.DigestBlock:
		v.digest, err = v.t.file.ReadDigest(b.Handle)
		v.digestHandle = b.Handle
		return err
	case b.kind != tablefile.NeverBlock && b.policy == nil:
		_, err = v.t.file.ReadStored(b.kind, b.Handle, &v.memory.Scratch)
		return err
	}
	if err := v.t.meta().readFilter(&filters, b); err != nil {
		return err
	}
	if filters.Blocks != nil {
		if damage := filters.Blocks.Check(); damage != nil {
			return v.t.file.Damaged(b.kind, b.Handle, damage)
		}
	}
	v.addFilter(b, &filters)
	return nil
}
