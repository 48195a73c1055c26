package table

import (
	"errors"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// A narrower is a filter.TablePolicy with the optional method Narrow.
type narrower interface {
	Narrow(filter []byte) ([]byte, error)
}

// A pagedPolicy is a filter.TablePolicy with the optional methods of filters that are read by the page.
type pagedPolicy interface {
	OpenPaged(tail []byte, size uint64) (filter.PagedFilter, error)
	PagedTail() int
}

// byPage returns p if its filters are read by the page, or nil.
func byPage(p namedPolicy) pagedPolicy {
	if paged, ok := p.(pagedPolicy); ok && paged.PagedTail() > 0 {
		return paged
	}
	return nil
}

// filterBits returns the result of p's optional method FilterBits, or 0.
func filterBits(p filter.TablePolicy, contents []byte) int {
	if b, ok := p.(interface{ FilterBits(filter []byte) int }); ok {
		return b.FilterBits(contents)
	}
	return 0
}

// openFilters opens the filters that the metaindex lists, with their exceptions and Prefixer. If some cannot be
// used, it returns the others and an error. Without any filter, it returns no error.
func (t *openTable) openFilters(m tablefile.Metaindex, s *tablefile.Scratch) (filters layout.Filters, err error) {
	var memory [6]metaBlock
	var used [4]*metaBlock
	blocks := t.metaBlocks(m, memory[:0])
	used[3] = best(blocks, tablefile.PropertiesBlock)
	hasNever := best(blocks, tablefile.NeverBlock) != nil
	var errs [4]error
	isOpen := func(i int) bool { return used[i] != nil && errs[i] == nil }
	for i, kind := range [...]tablefile.Kind{tablefile.FilterBlock, tablefile.TableFilterBlock, tablefile.NeverBlock} {
		b := best(blocks, kind)
		if b == nil || kind == tablefile.NeverBlock && !isOpen(1) {
			continue
		}
		b.narrows = !hasNever
		if errs[i] = t.openFilter(&filters, b, used[:]); isReadError(errs[i]) {
			return filters, errs[i]
		}
		used[i] = b
	}
	if isOpen(0) || isOpen(1) {
		if filters.Prefix, errs[3] = t.openPrefixer(m, s); isReadError(errs[3]) {
			return filters, errs[3]
		}
	}
	return filters, errors.Join(errs[:]...)
}

// openFilter opens a filter, or the exceptions of one. Its block must not share bytes with the others, so that the
// size of the file bounds the memory for all.
func (t *openTable) openFilter(filters *layout.Filters, b *metaBlock, others []*metaBlock) error {
	if b.Kind != tablefile.NeverBlock && b.policy == nil {
		return t.o.errorf("filter %s: %w", format.Quote(b.Policy), ErrUnknownFilter)
	}
	if b.Err != nil {
		return b.Err
	}
	entry := layout.MetaindexEntry{Name: string(b.Name), Handle: layout.Handle(b.Handle)}
	switch b.Kind {
	case tablefile.FilterBlock:
		filters.BlocksEntry = entry
	case tablefile.TableFilterBlock:
		filters.TableEntry = entry
	default:
		filters.NeverEntry = entry
	}
	if err := t.checkApart(b, others); err != nil {
		return err
	}
	return t.readFilter(filters, b)
}

// readFilter reads a filter of a known policy, or exceptions, and sets the field of filters for it.
func (t *openTable) readFilter(filters *layout.Filters, b *metaBlock) error {
	if t.byPage && b.Kind == tablefile.TableFilterBlock && byPage(b.policy) != nil {
		return t.openPages(filters, b)
	}
	var s tablefile.Scratch
	contents, err := t.file.ReadInPlace(b.Kind, b.Handle, &s)
	if err != nil {
		return err
	}
	switch b.Kind {
	case tablefile.FilterBlock:
		filters.Blocks, err = filter.NewBlockReader(contents, b.policy.(filter.Policy))
	case tablefile.TableFilterBlock:
		err = t.openTableFilter(filters, b, contents)
	default:
		filters.Never, err = layout.OpenExceptions(contents, t.file.Allow(exceptionsBudget))
	}
	if err != nil {
		return t.file.Damaged(b.Kind, b.Handle, err)
	}
	return nil
}

// openTableFilter opens the table filter, which its policy may narrow first.
func (t *openTable) openTableFilter(filters *layout.Filters, b *metaBlock, contents []byte) error {
	policy := b.policy.(filter.TablePolicy)
	bits := filterBits(policy, contents)
	if n, ok := b.policy.(narrower); ok && b.narrows && !t.file.HandsOut() {
		var err error
		if contents, err = n.Narrow(contents); err != nil {
			return err
		}
	}
	table, err := policy.Open(contents)
	if p := byPage(b.policy); p != nil && err == nil {
		filters.Pages, err = checkedPages(p, contents)
	}
	if err == nil {
		filters.Table, filters.TableSize, filters.TableBits = table, int64(len(contents)), bits
	}
	return err
}

// openPrefixer returns the Prefixer whose prefixes the filters hold. It is nil if they hold none, or if the Prefixer
// is unknown.
func (t *openTable) openPrefixer(m tablefile.Metaindex, s *tablefile.Scratch) (filter.Prefixer, error) {
	p, err := t.findProperties(m, format.PrefixName, s)
	if err != nil || p == nil {
		return nil, err
	}
	for _, known := range t.o.FilterPrefixes {
		if known != nil && known.Name() == p.FilterPrefix {
			return known, nil
		}
	}
	return prefixerOf(p.FilterPrefix), nil
}

// isReadError reports whether err means that a filter could not be read, not that it is corrupt or unknown.
func isReadError(err error) bool {
	return err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnknownFilter)
}

// builtInBloom is the policy that reads LevelDB's filters, if no other is in the options.
var builtInBloom = filter.NewBloom(0)

// blockPolicies returns the policies for the filter blocks that the metaindex lists: the options' policies, then the
// built-in one. If no listed name tells which of two hashes LevelDB's filters use, policies with builtInBloom's name
// accept both.
func (o *ReaderOptions) blockPolicies(m tablefile.Metaindex) []filter.Policy {
	all := append(slices.Clip(o.FilterPolicies), filter.Policy(builtInBloom))
	all = slices.DeleteFunc(all, func(p filter.Policy) bool { return p == nil })
	for _, name := range builtInBloom.Aliases() { // names that stand for one hash only
		for _, e := range m {
			if e.Kind == tablefile.FilterBlock && string(e.Policy) == name {
				return all
			}
		}
	}
	for i, p := range all {
		if isNamed(p, []byte(builtInBloom.Name())) {
			all[i] = filter.EitherHash(p)
		}
	}
	return all
}

// tablePolicies returns the policies that read table filters, in the same order.
func (o *ReaderOptions) tablePolicies() []filter.TablePolicy {
	all := append(slices.Clip(o.TableFilterPolicies), filter.NewTableBloom(0))
	return slices.DeleteFunc(all, func(p filter.TablePolicy) bool { return p == nil })
}

// A namedPolicy is a filter.Policy or a filter.TablePolicy.
type namedPolicy interface{ Name() string }

// An aliaser is a policy with the optional method Aliases.
type aliaser interface{ Aliases() []string }

// filterNames returns the name and the aliases of p, in ascending order, without duplicates.
func filterNames(p namedPolicy) []string {
	names := []string{p.Name()}
	if a, ok := p.(aliaser); ok {
		names = append(names, a.Aliases()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isNamed reports whether p reads filters of that name, its own or an alias. A file's name can be very long, so it
// is not copied.
func isNamed(p namedPolicy, name []byte) bool {
	same := func(alias string) bool { return alias == string(name) }
	if same(p.Name()) {
		return true
	}
	if a, ok := p.(aliaser); ok && slices.ContainsFunc(a.Aliases(), same) {
		return true
	}
	a, ok := p.(interface{ ReadAliases() []string })
	return ok && slices.ContainsFunc(a.ReadAliases(), same)
}

// policyOf returns the first policy that reads filters of that name, and its index, or nil and len(policies).
func policyOf[P namedPolicy](policies []P, name []byte) (namedPolicy, int) {
	for i, p := range policies {
		if isNamed(p, name) {
			return p, i
		}
	}
	return nil, len(policies)
}

// A metaBlock is a block that the metaindex lists.
type metaBlock struct {
	tablefile.MetaEntry
	policy  namedPolicy // of a filter, if it is known
	narrows bool        // the policy may narrow the filter
	rank    int         // index of the policy, the lowest is used; -1 for properties, math.MaxInt for other blocks
}

// metaBlocks appends the blocks that the metaindex lists to blocks.
func (t *openTable) metaBlocks(m tablefile.Metaindex, blocks []metaBlock) []metaBlock {
	var blockPolicies []filter.Policy
	var tablePolicies []filter.TablePolicy
	for _, e := range m {
		b := metaBlock{MetaEntry: e, rank: math.MaxInt}
		switch b.Kind {
		case tablefile.PropertiesBlock:
			b.rank = -1
		case tablefile.FilterBlock:
			if blockPolicies == nil {
				blockPolicies = t.o.blockPolicies(m)
			}
			b.policy, b.rank = policyOf(blockPolicies, b.Policy)
		case tablefile.TableFilterBlock:
			if tablePolicies == nil {
				tablePolicies = t.o.tablePolicies()
			}
			b.policy, b.rank = policyOf(tablePolicies, b.Policy)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// best returns the block of a kind that a Reader uses, or nil if none is listed.
func best(blocks []metaBlock, kind tablefile.Kind) (best *metaBlock) {
	for i := range blocks {
		if b := &blocks[i]; b.Kind == kind && (best == nil || b.rank < best.rank) {
			best = b
		}
	}
	return best
}

// checkApart checks that a block shares no bytes with others, of which some may be nil.
func (t *openTable) checkApart(b *metaBlock, others []*metaBlock) error {
	for _, other := range others {
		if other != nil && other.Err == nil && b.Overlaps(other.Handle) {
			return t.file.Corrupt(b.Kind, b.Handle, "overlaps the %s at %d", other.Kind, other.Offset)
		}
	}
	return nil
}
