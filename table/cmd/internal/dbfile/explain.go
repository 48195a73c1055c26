package dbfile

import (
	"errors"
	"sort"
	"strings"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// Get returns the newest version of key in the table. It may be a tombstone.
func (f *File) Get(key []byte) (e Entry, found bool, err error) {
	e, found, err = f.lookUp(key)
	if err == nil && !found {
		err = f.checkMiss(key)
	}
	return e, found, err
}

// lookUp is like Get, but does not check a miss. If it returns an error, the version that it found may be
// outdated.
func (f *File) lookUp(key []byte) (e Entry, found bool, err error) {
	if err := f.checkLookup(); err != nil {
		return Entry{}, false, err
	}
	var k, v []byte
	if f.Internal {
		seek := internalkey.SearchKey(nil, key, f.HiddenFrom-1) // wraps around for 0: all versions
		if k, v, err = f.Reader.Find(seek); errors.Is(err, table.ErrCorrupt) {
			k, v = dbread.FindPastDamage(f.Reader, f.Order, seek)
			found = k != nil && e.Parse(k, v, true) == nil
			return e, found, f.Wrap(err)
		}
	} else {
		k = key
		v, err = f.Reader.Get(key)
	}
	if errors.Is(err, table.ErrNotFound) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, f.Wrap(err)
	}
	err = e.Parse(k, v, f.Internal)
	return e, err == nil, f.Wrap(err)
}

// A LookupTrace describes the steps of a lookup in a table.
type LookupTrace struct {
	File  *File
	Found bool
	Entry Entry // the entry, if found
	Err   error // why the result is unknown

	Removed bool // the key was found among a layer's removals

	TableFilter FilterResult  // the result of the table filter
	TableProbes filter.Probes // the bits that it checked; none if it is not a Bloom filter
	FuseProbes  fuse.Probes   // the fingerprints that it checked, if IsFuse
	IsFuse      bool
	FilterOnly  bool // the table has only a filter, which may contain the key
	IsPrefix    bool // the key is a whole prefix: filters may contain it as the prefix of other keys
	IsException bool // the table filter may contain the key, but it is one of its exceptions

	IndexEntry  int // index of the first separator ≥ the key; if there is none, len(Layout.Data)
	Block       layout.IndexEntry
	BlockFilter FilterResult  // the result of the block filter
	FilterIndex int           // number of the filter in the filter block; -1: none
	FilterData  []byte        // its bit array and k
	BlockProbes filter.Probes // the bits that it checked

	FalsePositive bool   // the filters did not rule the key out, but the data block does not contain it
	PagesRead     uint64 // number of pages of the table filter read
	BlocksRead    uint64 // number of data blocks read
	BytesRead     uint64 // their stored size, without trailers
	Time          time.Duration
}

// A FilterResult is the result of checking a filter for a key.
type FilterResult int

// The results of checking a filter.
const (
	NotChecked FilterResult = iota // there is no filter, or it was not needed
	MayContain
	Absent
)

func (a FilterResult) String() string {
	return [...]string{"not checked", "may contain", "certainly absent"}[a]
}

// Explain looks up key, and describes the steps. The results of the filters and the amounts read are from the
// Reader's metrics. The places in the index and in the filters are found separately.
func (f *File) Explain(key []byte) (LookupTrace, error) {
	p := LookupTrace{File: f, FilterIndex: -1}
	*f.Options.Metrics = table.Metrics{} // of this lookup
	start := time.Now()
	p.Entry, p.Found, p.Err = f.lookUp(key)
	p.Time = time.Since(start)
	if errors.Is(p.Err, table.ErrFilterOnly) {
		p.FilterOnly, p.Err = true, nil
	}
	p.locate(key)
	p.count(f.Options.Metrics)
	if p.Err == nil && !p.Found && !p.FilterOnly {
		p.Err = f.checkMiss(key)
	}
	return p, p.Err
}

// count fills in the Reader's metrics of the lookup.
func (p *LookupTrace) count(m *table.Metrics) {
	p.PagesRead, p.BlocksRead = m.FilterPagesRead.Load(), m.BlocksRead.Load()
	p.BytesRead = m.BytesRead.Load() - p.BlocksRead*format.TrailerLen
	p.FalsePositive = m.FilterFalsePositives.Load() > 0
	checks, negatives := m.FilterChecks.Load(), m.FilterNegatives.Load()
	if checks > 0 && p.File.filters.HasTable() {
		p.TableFilter = filterResults[m.TableFilterNegatives.Load() == 0]
		checks--
	}
	if checks > 0 { // perhaps two, with the next block's filter: if the results differ, the bits decide
		p.BlockFilter = filterResults[negatives == 0 || negatives < checks && p.BlockProbes.Clear < 0]
	}
}

// locate finds the places of the key in the index and in the filters.
func (p *LookupTrace) locate(key []byte) {
	f := p.File
	if whole := f.filters.Table; whole != nil {
		p.TableProbes, _ = filter.ProbeTable(whole, key)
		p.FuseProbes, p.IsFuse = fuse.Probe(whole, key)
	}
	p.IsException = f.filters.HasTable() && f.filters.Never.Contains(key)
	p.IsPrefix = f.filters.Prefix != nil && f.filters.Prefix.PrefixLen(key) == len(key)
	stored := f.SeekKey(key)
	data := f.Layout.Data
	p.IndexEntry = sort.Search(len(data), func(i int) bool { return f.Compare(data[i].Separator, stored) >= 0 })
	if p.IndexEntry == len(data) {
		return
	}
	p.Block = data[p.IndexEntry]
	if blocks := f.filters.Blocks; blocks != nil {
		if slot := p.Block.Offset >> blocks.BaseLg(); slot < uint64(blocks.Len()) {
			p.FilterIndex, p.FilterData = int(slot), blocks.Filter(int(slot))
			p.BlockProbes, _ = blocks.Probe(int(slot), key) // it fails only for a filter without keys
		}
	}
}

// filterResults are the results by whether a filter may contain a key.
var filterResults = map[bool]FilterResult{true: MayContain, false: Absent}

// Filters returns the filters that lookups check.
func (f *File) Filters() Filters { return f.filters }

// FiltersInMemory is like Filters, but reads a paged filter into memory.
func (f *File) FiltersInMemory() Filters {
	if f.filters.Pages != nil && f.filters.Table == nil {
		if all, err := f.Layout.Filters(); err == nil {
			f.filters.Table = all.Table
		}
	}
	return f.filters
}

// FilterOnly reports whether the table has only a filter. If there are no entries, and what says that it is a filter
// is damaged, it returns an error.
func (f *File) FilterOnly() (bool, error) {
	if f.Reader.FilterOnly() {
		return true, nil
	}
	_, err := f.Reader.Properties()
	if err == nil || errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if l, failed := f.Reader.Layout(); failed == nil && len(l.Data) > 0 {
		return false, nil
	}
	return false, f.Wrap(err)
}

// Filters are the filters that lookups in a table check.
type Filters struct {
	layout.Filters

	Err error // why a filter is not used
}

// filtersOf returns the filters of a Reader, or reads them if the Reader does not.
func filtersOf(r *table.Reader, l *layout.Layout, o Options) (f Filters) {
	if r == nil || o.readsNoFilter() {
		f.Filters, f.Err = l.Filters()
	} else {
		f.Filters, f.Err = r.Filters(), r.FilterErr()
	}
	return f
}

// readsNoFilter reports whether Readers ignore filters.
func (o Options) readsNoFilter() bool { return o.ScanOnly && !o.AsksPrefix }

// Reason formats Err.
func (f Filters) Reason() string {
	reasons := text.Lines(f.Err)
	for i, reason := range reasons {
		reasons[i] = strings.TrimPrefix(reason, "table: ")
	}
	return strings.Join(reasons, "; ")
}

// Contains reports whether the data block at offset may contain the key.
func (f Filters) Contains(offset uint64, key []byte) bool {
	return (f.Table == nil || f.Table.Contains(key)) && (f.Blocks == nil || f.Blocks.Contains(offset, key))
}

// None reports whether there is no filter to check.
func (f Filters) None() bool { return f.Blocks == nil && !f.HasTable() }

// filterOnlyError is table.ErrFilterOnly in the words of sst.
type filterOnlyError struct{ path string }

func (e filterOnlyError) Error() string {
	return "only a filter, no entries. To query it, run: " + files.CommandLine("get %s KEY", e.path)
}

func (filterOnlyError) Unwrap() error { return table.ErrFilterOnly }

// MayContain checks the filters of the table. If a page of a filter cannot be read, it returns an error.
func (f *File) MayContain(key []byte) (bool, error) {
	may, err := f.Reader.MayContain(f.SeekKey(key))
	return may, f.Wrap(err)
}

// HiddenKeys returns an error if a table without data blocks may have keys nevertheless: in a filter, or lost by
// damage.
func (f *File) HiddenKeys() error {
	if !f.Empty {
		return nil
	}
	it := f.Reader.NewIter(nil)
	it.First()
	return f.Wrap(it.Close())
}

// HasNoEntries reports whether a file is empty or a table without data blocks.
func HasNoEntries(path string) bool {
	if IsEmpty(path) {
		return true
	}
	f, err := OpenDamaged(path, Options{})
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Layout != nil && f.Empty
}
