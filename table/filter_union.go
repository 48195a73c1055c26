package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/wire"
)

// ErrNoUnion is in the chain of the error of FilterUnion.Add for a table that is not damaged, but whose
// filter cannot be united with the others.
var ErrNoUnion = errors.New("table: no union of filters")

// A FilterUnion unites tables that WriterOptions.FilterOnly wrote, without their keys: it writes a table
// whose MayContain is true for each key for which that of one of them is. Their filters must be those of
// [filter.TableBloom], and have the same size and k: see TableBloom.SizedFor. All tables must have been
// written with the same FilterKey, which tables do not store.
//
// The zero value has no tables. Its memory is that of all of their filters and exceptions, and of one more
// filter. One goroutine at a time may use it.
type FilterUnion struct {
	tables []unitedFilter
	first  *Properties // of the first table
	filter []byte      // the union; nil: no table has keys
	keys   int
	left   int // exceptions that the last Write left out
}

// A unitedFilter is the filter of one table.
type unitedFilter struct {
	filter.TableFilter
	never *Exceptions
}

// denies reports whether the filter is sure that the table does not have a filter key.
func (f unitedFilter) denies(filterKey []byte) bool {
	return !f.Contains(filterKey) || f.never.Contains(filterKey)
}

// Add adds the table of r, and reads its filter for that. It does not keep r. An error for a table that
// cannot be united with those before has ErrNoUnion in its chain: one with entries, or with a filter of
// another policy, size or k, or with another Comparer or FilterPrefix by name. After an error, u is as
// before.
func (u *FilterUnion) Add(r *Reader) error {
	p, err := r.Properties()
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := u.check(r, p); err != nil {
		return err
	}
	if p.FilterEntries > 0 {
		if err := u.addFilter(r); err != nil {
			return err
		}
	}
	u.keys += int(min(p.FilterEntries, uint64(math.MaxInt-u.keys)))
	if u.first == nil {
		u.first = p
	}
	return nil
}

// check compares the properties of a table with those of the first one.
func (u *FilterUnion) check(r *Reader, p *Properties) error {
	if !r.FilterOnly() {
		return fmt.Errorf("%w: want tables with a filter only, as FilterOnly writes them", ErrNoUnion)
	}
	if want := (filter.TableBloom{}).Name(); p.FilterPolicy != want {
		return fmt.Errorf("%w: filter policy %.100q, want %s: those of others have no union", ErrNoUnion, p.FilterPolicy, want)
	}
	if u.first == nil {
		return nil
	}
	if p.Comparer != u.first.Comparer {
		return fmt.Errorf("%w: Comparer %.100q, but %.100q in the first table, want the same", ErrNoUnion, p.Comparer, u.first.Comparer)
	}
	if p.FilterPrefix != u.first.FilterPrefix {
		return fmt.Errorf("%w: FilterPrefix %.100q, but %.100q in the first table, want the same", ErrNoUnion, p.FilterPrefix, u.first.FilterPrefix)
	}
	return nil
}

// addFilter adds the filter of a table that has keys.
func (u *FilterUnion) addFilter(r *Reader) error {
	l, err := r.Layout()
	if err != nil {
		return err
	}
	return l.file.Guard(func() error { return u.addFilterOf(l) })
}

// addFilterOf adds the filter of the table with that layout.
func (u *FilterUnion) addFilterOf(l *Layout) error {
	filters, err := l.Filters()
	if err != nil {
		return err
	}
	contents, _, err := l.ReadBlock(filters.TableEntry.Handle)
	if err != nil {
		return err
	}
	opened, err := filter.TableBloom{}.Open(contents)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNoUnion, err)
	}
	union := contents
	if u.filter != nil {
		if union, err = filter.UnionTable(u.filter, contents); err != nil {
			return fmt.Errorf("%w: %v", ErrNoUnion, err)
		}
	}
	u.filter = union
	u.tables = append(u.tables, unitedFilter{opened, filters.Never.clone()})
	return nil
}

// exceptions returns the exceptions of the tables that all tables deny, in the bytewise order. The others
// may be keys of another table, and are counted.
func (u *FilterUnion) exceptions() (kept [][]byte, err error) {
	var dropped [][]byte
	for _, f := range u.tables {
		left := maxExpansion * f.never.size()
		for key := range f.never.All() {
			if left -= int64(len(key)); left < 0 {
				return nil, fmt.Errorf("table: exceptions that are, together, over %d times as long as their block, want fewer or shorter ones", maxExpansion)
			}
			to := &kept
			if slices.ContainsFunc(u.tables, func(f unitedFilter) bool { return !f.denies(key) }) {
				to = &dropped
			}
			*to = append(*to, wire.AppendNotNil(nil, key))
		}
	}
	u.left = len(sortedSet(dropped))
	return sortedSet(kept), nil
}

// sortedSet sorts keys bytewise, and returns one of each.
func sortedSet(keys [][]byte) [][]byte {
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// LeftOut returns how many different exceptions the last Write left out.
func (u *FilterUnion) LeftOut() int { return u.left }

// Write writes the table to w. Its bytes are those of a table with FilterOnly of all keys and the default
// options, except for Properties.FilterEntries, which counts a key of several tables several times, and
// except for the exceptions: it has those of each table that all others deny too. Other exceptions are left
// out, since a table can have them as a key: LeftOut counts them. Keys that are false positives of the union alone are no
// exceptions of it, even if all tables were written with them in WriterOptions.Never.
func (u *FilterUnion) Write(w io.Writer) error {
	if u.first == nil {
		return errors.New("table: FilterUnion has no table, want Add before Write")
	}
	o, err := u.options()
	if err != nil {
		return err
	}
	t, err := NewWriter(w, &o)
	if err != nil {
		return err
	}
	t.tableFilter, t.tableFilterKeys = readyFilter(u.filter), u.keys
	return t.Close()
}

// options returns the options of the table that Write writes.
func (u *FilterUnion) options() (WriterOptions, error) {
	o := WriterOptions{FilterOnly: true, TableFilterPolicy: filter.TableBloom{}, Comparer: unionOrder{name: u.first.Comparer}}
	if u.first.FilterPrefix != "" {
		o.FilterPrefix = unionPrefixer(u.first.FilterPrefix)
	}
	kept, err := u.exceptions()
	if kept != nil {
		o.Never = func(yield func([]byte, error) bool) {
			for i := 0; i < len(kept) && yield(kept[i], nil); i++ {
			}
		}
	}
	return o, err
}

// A readyFilter is the TableGenerator of a filter that is there.
type readyFilter []byte

func (f readyFilter) Add([]byte)                {}
func (f readyFilter) Generate() ([]byte, error) { return f, nil }

// A unionOrder has the name of a Comparer that may not be known. The table has no keys to be ordered by
// it, and Never is in the bytewise order.
type unionOrder struct {
	bytewise
	name string
}

func (o unionOrder) Name() string { return o.name }

// A unionPrefixer is the name of a Prefixer that may not be known. The prefixes are in the filter already.
type unionPrefixer string

func (p unionPrefixer) Name() string         { return string(p) }
func (unionPrefixer) PrefixLen(_ []byte) int { return 0 }
