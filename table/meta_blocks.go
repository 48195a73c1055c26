package table

import (
	"math"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// A metaReader reads what the metaindex of a table lists.
type metaReader struct {
	*tablefile.File
	o      *ReaderOptions
	byPage bool // filters whose policy can are read by the page
}

// A metaBlock is a block that the metaindex lists.
type metaBlock struct {
	tablefile.Handle
	err  error // why the handle is wrong
	name []byte
	kind tablefile.Kind

	policyName []byte      // of a filter
	policy     namedPolicy // of a filter, if it is known
	narrows    bool        // the policy may narrow the filter
	rank       int         // of the policy among those of the options; of the properties -1, of other blocks more
}

// metaBlocks appends the blocks that the metaindex lists to blocks.
func (f metaReader) metaBlocks(m tablefile.Metaindex, blocks []metaBlock) []metaBlock {
	var blockPolicies []filter.Policy
	var tablePolicies []filter.TablePolicy
	for _, e := range m {
		blocks = append(blocks, metaBlock{name: e.Name, rank: math.MaxInt})
		b := &blocks[len(blocks)-1]
		b.kind, b.policyName = tablefile.MetaKind(e.Name)
		switch b.kind {
		case tablefile.PropertiesBlock:
			b.rank = -1
		case tablefile.FilterBlock:
			if blockPolicies == nil {
				blockPolicies = f.o.blockPolicies(m)
			}
			b.policy, b.rank = policyOf(blockPolicies, b.policyName)
		case tablefile.TableFilterBlock:
			if tablePolicies == nil {
				tablePolicies = f.o.tablePolicies()
			}
			b.policy, b.rank = policyOf(tablePolicies, b.policyName)
		}
		b.Handle, b.err = f.MetaHandle(b.kind, e.Handle)
	}
	return blocks
}

// best returns the block of a kind that a Reader takes, or nil if none is listed.
func best(blocks []metaBlock, kind tablefile.Kind) (best *metaBlock) {
	for i := range blocks {
		if b := &blocks[i]; b.kind == kind && (best == nil || b.rank < best.rank) {
			best = b
		}
	}
	return best
}

// checkApart checks that a block shares no bytes with others, of which some may be nil.
func (f metaReader) checkApart(b *metaBlock, others []*metaBlock) error {
	for _, other := range others {
		if other != nil && other.err == nil && b.Overlaps(other.Handle) {
			return f.Corrupt(b.kind, b.Handle, "overlaps the %s at %d", other.kind, other.Offset)
		}
	}
	return nil
}
