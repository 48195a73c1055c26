package table

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/wire"
)

// Filters are the filters of a table that lookups check. [Layout.Filters] returns them.
type Filters struct {
	Blocks      *filter.BlockReader // the filter block; nil if there is none that can be used
	BlocksEntry MetaindexEntry      // its name and handle in the metaindex
	Table       filter.TableFilter  // of the whole table; nil if there is none that can be used
	TableEntry  MetaindexEntry      // its name and handle in the metaindex
	Never       *Exceptions         // of Table; nil if there are none that can be used
	NeverEntry  MetaindexEntry      // their name and handle in the metaindex
	Prefix      Prefixer            // whose prefixes both hold; nil if they hold none, or if it is unknown
}

// openFilters opens the filters that the metaindex lists, and what is stored beside them. If
// some cannot be used, openFilters returns the others and an error. To have no filters is no error.
func (f *tableFile) openFilters(m metaindex, o *ReaderOptions) (filters Filters, err error) {
	others := append(make([]Handle, 0, 2), f.propertiesHandle(m))
	var blocksErr, tableErr error
	if policy, found := blockFilters.first(m); found {
		filters.Blocks, blocksErr = openFilter(f, m, blockFilters, policy, o.blockPolicies(m), others, &filters.BlocksEntry, openFilterBlock)
	}
	if unread(blocksErr) {
		return filters, blocksErr
	}
	others = append(others, filters.BlocksEntry.Handle)
	if policy, found := tableFilters.first(m); found {
		filters.Table, tableErr = openFilter(f, m, tableFilters, policy, o.tablePolicies(), others, &filters.TableEntry, filter.TablePolicy.Open)
	}
	if unread(tableErr) {
		return filters, tableErr
	}
	neverErr, prefixErr := f.openBeside(&filters, m, o, append(others, filters.TableEntry.Handle))
	for _, err := range []error{neverErr, prefixErr} {
		if unread(err) {
			return filters, err
		}
	}
	return filters, errors.Join(blocksErr, tableErr, neverErr, prefixErr)
}

// openBeside opens what is stored beside the filters: the exceptions, and the name of the Prefixer.
func (f *tableFile) openBeside(filters *Filters, m metaindex, o *ReaderOptions, others []Handle) (neverErr, prefixErr error) {
	if filters.Table != nil {
		filters.Never, filters.NeverEntry, neverErr = f.openExceptions(m, others)
	}
	if !unread(neverErr) && (filters.Table != nil || filters.Blocks != nil) {
		filters.Prefix, prefixErr = f.openPrefixer(m, o)
	}
	return neverErr, prefixErr
}

// openFilterBlock is filter.NewBlockReader, with the arguments in openFilter's order.
func openFilterBlock(p filter.Policy, contents []byte) (*filter.BlockReader, error) {
	return filter.NewBlockReader(contents, p)
}

// unread reports whether err is an error of reading a filter, not of what was read.
func unread(err error) bool {
	return err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnknownFilter)
}

// openFilter opens the filter of the first policy that the metaindex lists a filter of, and
// sets entry to its name and handle. The filter must not share bytes with the other blocks: the memory
// for all is bounded by the size of the file. first is the name of the first policy that is listed.
func openFilter[P namedPolicy, F any](f *tableFile, m metaindex, kind filterKind, first []byte, policies []P, others []Handle,
	entry *MetaindexEntry, open func(P, []byte) (F, error)) (none F, err error) {
	for _, p := range policies {
		for _, e := range m {
			if name, found := kind.policyOf(e.name); !found || !isNamed(p, name) {
				continue
			}
			h, err := f.metaHandle(kind.block, e.handle)
			if err != nil {
				return none, err
			}
			if h.Length == 0 {
				continue
			}
			*entry = MetaindexEntry{string(e.name), h}
			for _, other := range others {
				if other.Length > 0 && h.overlaps(other) {
					return none, f.corrupt(kind.block, h, "overlaps the block at %d", other.Offset)
				}
			}
			return readFilter(f, kind.block, h, p, open)
		}
	}
	return none, f.errorf("filter %s: %w", wire.Quote(first), ErrUnknownFilter)
}

// readFilter reads the filter at h, and opens it.
func readFilter[P, F any](f *tableFile, kind BlockKind, h Handle, p P, open func(P, []byte) (F, error)) (none F, err error) {
	var b buffers
	contents, err := f.readInPlace(kind, h, &b)
	if err != nil {
		return none, err
	}
	opened, err := open(p, contents)
	if err != nil {
		return none, f.damaged(kind, h, err)
	}
	return opened, nil
}

// builtInBloom is the policy that reads LevelDB's filters, if no other is in the options.
var builtInBloom = filter.NewBloom(0)

// blockPolicies returns the policies that read the filter blocks that the metaindex lists, those
// of the options before the built-in one. If it lists no name that tells which of two hashes the
// filters of LevelDB are of, these policies take both.
func (o *ReaderOptions) blockPolicies(m metaindex) []filter.Policy {
	all := append(slices.Clip(o.FilterPolicies), filter.Policy(builtInBloom))
	all = slices.DeleteFunc(all, func(p filter.Policy) bool { return p == nil })
	for _, name := range builtInBloom.Aliases() { // of one hash only
		for _, e := range m {
			if policy, found := blockFilters.policyOf(e.name); found && string(policy) == name {
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

// A filterTrust is what is known of the filters of a table that Open has opened: whether they have the
// table's first keys. If one denies any, they would hide keys, and none is used. Most likely FilterKey is
// not the one that the table was written with, and then filters have the other keys by chance only.
//
// This is found out when a filter denies a key for the first time. Until then the filters have hidden
// nothing.
type filterTrust struct {
	state atomic.Int32 // 0 until it is known
	mu    sync.Mutex
	err   error // which filters deny the key, if they do
}

const (
	trusted    = 1
	distrusted = 2
)

// mayDeny reports whether a filter that denies a key may be believed. If the first keys are damaged
// it may, since lookups will report that; but if the source fails, the next denial asks again.
func (t *openTable) mayDeny() bool {
	if state := t.trust.state.Load(); state != 0 {
		return state == trusted
	}
	t.trust.mu.Lock()
	defer t.trust.mu.Unlock()
	if t.trust.state.Load() == 0 {
		denied, err := t.denialOfFirstKeys()
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return false
		}
		state := int32(trusted)
		if denied != nil {
			t.trust.err, state = denied, distrusted
		}
		t.trust.state.Store(state)
	}
	return t.trust.state.Load() == trusted
}

// distrust returns why no filter may be believed, or nil if they may, or if there are none.
func (t *openTable) distrust() (err error) {
	defer t.mapped.leave(t.mapped.enter(), &err)
	if t.filters.Blocks == nil && t.filters.Table == nil || t.mayDeny() || t.trust.state.Load() != distrusted {
		return nil
	}
	return t.trust.err
}

// maxAsked is how many of the first keys filters are asked for. With a wrong FilterKey, a filter of 10
// bits per key has one of 100 keys by chance, but hardly several.
const maxAsked = 8

// errAsked ends the walk over the first keys.
var errAsked = errors.New("the filters were asked for enough keys")

// denialOfFirstKeys asks the filters for the first keys of the table, in any order, as far as they are in
// its first data block. denied is for the first key that is denied. err says why keys cannot be read.
func (t *openTable) denialOfFirstKeys() (denied, err error) {
	h, err := t.index.handle(0)
	if err != nil {
		return nil, err
	}
	b := buffersPool.Get().(*buffers)
	defer b.put()
	contents, err := t.readBlock(DataBlock, h, b)
	if err != nil {
		return nil, err
	}
	asked, budget := 0, encoded.Budget{Memory: dataKeyBudget.forFile(t.footerOffset)}
	err = encoded.Walk(contents, encoded.Order{Unchecked: true}, &budget, func(key []byte, _ int, _ []byte) error {
		denied = t.denials(h, key)
		if asked++; denied != nil || asked == maxAsked {
			return errAsked
		}
		return nil
	})
	if err != nil && err != errAsked {
		return nil, t.damaged(DataBlock, h, err)
	}
	return denied, nil
}

// denials returns an error for each filter that denies key, which is in the data block at h, or its
// prefix.
func (t *openTable) denials(h Handle, key []byte) error {
	var denials [4]error
	filterKey := filterKeyOf(t.o.FilterKey, key)
	if f := t.filters.Table; f != nil && filterKey != nil {
		contains := func(key []byte) bool { return f.Contains(key) && !t.filters.Never.Contains(key) }
		denials[0] = t.denial(t.filters.TableEntry, contains, key, filterKey)
		denials[1] = t.prefixDenial(t.filters.TableEntry, f.Contains, filterKey)
	}
	if f := t.filters.Blocks; f != nil && filterKey != nil {
		contains := func(key []byte) bool { return f.Contains(h.Offset, key) }
		denials[2] = t.denial(t.filters.BlocksEntry, contains, key, filterKey)
		denials[3] = t.prefixDenial(t.filters.BlocksEntry, contains, filterKey)
	}
	return errors.Join(denials[:]...)
}

// denial returns an error if a filter denies key, which the table has.
func (t *openTable) denial(listed MetaindexEntry, contains func(filterKey []byte) bool, key, filterKey []byte) error {
	if contains(filterKey) {
		return nil
	}
	hint := "FilterKey is not the one that the table was written with, or the filter is damaged"
	if user := InternalFilterKey(key); user != nil && !bytes.Equal(user, filterKey) && contains(user) {
		hint = "it has the key without its last 8 bytes, as in a database: use InternalComparer, or FilterKey: InternalFilterKey"
	} else if !bytes.Equal(key, filterKey) && contains(key) {
		hint = "it has the whole key: use a FilterKey that returns the key"
	}
	return t.errorf("%s at %d denies the table's key %s and is not used: %s", listed.Name, listed.Offset, wire.Quote(key), hint)
}
