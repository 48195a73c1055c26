package dbfile

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
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

// lookUp is Get, but does not check a miss. With an error, it may have found an older version.
func (f *File) lookUp(key []byte) (e Entry, found bool, err error) {
	if err := f.checkLookup(); err != nil {
		return Entry{}, false, err
	}
	var k, v []byte
	if f.Internal {
		seek := internalkey.SearchKey(nil, key, f.HiddenFrom-1) // 0: all
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
	Err   error // why it is not known

	Removed bool // the key was found, in a table of the removals of a layer

	TableFilter FilterResult  // the answer of the table filter
	TableProbes filter.Probes // the bits it was asked for; none if it is no Bloom filter
	FuseProbes  fuse.Probes   // the fingerprints it was asked for, if IsFuse
	IsFuse      bool
	FilterOnly  bool // the table has nothing else, and the filter may contain the key
	IsPrefix    bool // the filters hold the key, if it is the prefix of others that the table has
	IsException bool // the table filter may contain the key, but it is one of its exceptions

	IndexEntry  int // index of the first separator ≥ the key; len(Layout.Data) if there is none
	Block       layout.IndexEntry
	BlockFilter FilterResult  // the answer of the block filter
	FilterIndex int           // number of the filter in the filter block; -1: none
	FilterData  []byte        // the bit array and k
	BlockProbes filter.Probes // the bits it was asked for

	FalsePositive bool   // a filter may contain the key, and the data block does not have it
	PagesRead     uint64 // number of pages of the table filter read
	BlocksRead    uint64 // number of data blocks read
	BytesRead     uint64 // their size in the file, without trailers
	Time          time.Duration
}

// A FilterResult is the answer of a filter for a key.
type FilterResult int

// The answers.
const (
	NotChecked FilterResult = iota // there is no filter, or it was not needed
	MayContain
	Absent
)

func (a FilterResult) String() string {
	return [...]string{"not checked", "may contain", "certainly absent"}[a]
}

// Explain lets the Reader look up key, and describes the steps: the answers of the filters and what was
// read as the Reader has counted them, and where in the index and in the filters it looked.
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

// count takes what the Reader has counted during the lookup.
func (p *LookupTrace) count(m *table.Metrics) {
	p.PagesRead, p.BlocksRead = m.FilterPagesRead.Load(), m.BlocksRead.Load()
	p.BytesRead = m.BytesRead.Load() - p.BlocksRead*format.TrailerLen
	p.FalsePositive = m.FilterFalsePositives.Load() > 0
	checks, negatives := m.FilterChecks.Load(), m.FilterNegatives.Load()
	if checks > 0 && p.File.filters.HasTable() {
		p.TableFilter = filterResults[m.TableFilterNegatives.Load() == 0]
		checks--
	}
	if checks > 0 { // perhaps two, with the next block's filter: if the answers differ, the bits tell
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
			p.BlockProbes, _ = blocks.Probe(int(slot), key) // it fails for a filter without keys only
		}
	}
}

// filterResults are the answers that say whether a filter contains a key.
var filterResults = map[bool]FilterResult{true: MayContain, false: Absent}

// Filters returns the filters that lookups check.
func (f *File) Filters() Filters { return f.filters }

// FiltersInMemory returns the filters that lookups check, with that which they read by the page.
func (f *File) FiltersInMemory() Filters {
	if f.filters.Pages != nil && f.filters.Table == nil {
		if all, err := f.Layout.Filters(); err == nil {
			f.filters.Table = all.Table
		}
	}
	return f.filters
}

// Filters are the filters of a table that lookups check.
type Filters struct {
	layout.Filters

	Err           error // why a filter is not used
	UnknownPolicy bool  // Err says that the filter policy is unknown
}

// filtersOf returns the filters of a Reader, or reads them if it has none.
func filtersOf(r *table.Reader, l *layout.Layout, o Options) (f Filters) {
	if r == nil || o.readsNoFilter() {
		f.Filters, f.Err = l.Filters()
	} else {
		f.Filters, f.Err = r.Filters(), r.FilterErr()
	}
	f.UnknownPolicy = f.Err != nil && !errors.Is(f.Err, table.ErrCorrupt)
	return f
}

// readsNoFilter reports whether Readers do without filters.
func (o Options) readsNoFilter() bool { return o.ScanOnly && !o.AsksPrefix }

// Reason formats Err.
func (f Filters) Reason() string {
	reasons := text.Lines(f.Err)
	for i, reason := range reasons {
		reasons[i] = strings.TrimPrefix(reason, "table: ")
	}
	return strings.Join(reasons, "; ")
}

// Contains reports whether the data block at offset may have the key.
func (f Filters) Contains(offset uint64, key []byte) bool {
	return (f.Table == nil || f.Table.Contains(key)) && (f.Blocks == nil || f.Blocks.Contains(offset, key))
}

// pagesSize returns how many bytes of the table filter are pages, which lookups read by the page.
func (f Filters) pagesSize() int64 {
	if f.Pages == nil {
		return 0
	}
	n, size := f.Pages.Pages()
	return int64(n) * int64(size)
}

// None reports whether there is no filter to check.
func (f Filters) None() bool { return f.Blocks == nil && !f.HasTable() }

// filterOnlyError is table.ErrFilterOnly in the words of sst.
type filterOnlyError struct{ path string }

func (e filterOnlyError) Error() string {
	return fmt.Sprintf("only a filter, no entries. To query it, run: sst get %s KEY", text.ShellPath(e.path))
}

func (filterOnlyError) Unwrap() error { return table.ErrFilterOnly }

// MayContain checks the filters of the table. A page of a filter that cannot be read is an error.
func (f *File) MayContain(key []byte) (bool, error) {
	may, err := f.Reader.MayContain(f.SeekKey(key))
	return may, f.Wrap(err)
}

// HiddenKeys returns an error if there may be keys though there are no data blocks: in a
// filter, or because of damage.
func (f *File) HiddenKeys() error {
	if !f.Empty {
		return nil
	}
	if _, err := f.Reader.FirstKey(); !errors.Is(err, table.ErrNotFound) {
		return f.Wrap(err)
	}
	return nil
}

// HasNoEntries reports whether a file is an empty one, or a table without data blocks.
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
