package filterfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/layout"
)

// errNoUnion is wrapped by errors about sound tables that cannot be merged with the ones before.
var errNoUnion = errors.New("filters cannot be merged")

// errHowToUnite is the advice that follows errNoUnion.
var errHowToUnite = errors.New("to merge filters, build each with the same BITS and N: sst build --filter-only --table-filter table-bloom:BITS --filter-keys N, or sieve build --filter table-bloom:BITS --keys N; or build one filter from all keys")

// Unite writes the union of the files to out.
func Unite(cmd *cobra.Command, paths []string, out string) error {
	ctx, stdout, stderr := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	NoteName(stderr, out)
	unlock, err := output.Lock(ctx, stderr, out, paths...)
	if err != nil {
		return err
	}
	defer unlock()
	var u union
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := u.addFile(path, output.FilesOf(stdout)); err != nil {
			return err
		}
	}
	if err := output.WriteFile(ctx, out, stdout, u.write); err != nil {
		return err
	}
	if u.leftOut > 0 {
		text.Note(stderr, "dropped %s that another filter may contain", text.Count(uint64(u.leftOut), "exception"))
	}
	if u.tables == nil {
		return nil
	}
	i, err := filter.InspectTable(u.filter)
	if most := mostKeys(i); err == nil && u.keys > most {
		text.Note(stderr, "the merged filter contains up to %s, but its size is for %s: %.2g %% false positives. For fewer, build each filter for more keys", text.Count(u.keys, "key"), text.Count(most, "key"), 100*i.Rate)
	}
	return err
}

// A union merges filter-only tables without their keys. Their filters must be of [filter.TableBloom], with equal
// sizes and k. The union takes the memory of all filters and exceptions, and of one more filter.
type union struct {
	first   *layout.Properties // of the first table
	tables  []unitedFilter     // those with keys
	filter  []byte             // their union
	keys    uint64             // number of keys in the tables; a key of several tables counts several times
	leftOut int                // exceptions that write has left out
}

// A unitedFilter is the filter of one table.
type unitedFilter struct {
	filter.TableFilter
	exceptions [][]byte
}

// rulesOut reports whether the filter rules the key out.
func (f unitedFilter) rulesOut(key []byte) bool {
	_, isException := slices.BinarySearchFunc(f.exceptions, key, bytes.Compare)
	return isException || !f.Contains(key)
}

// addFile adds the filter of a file.
func (u *union) addFile(path string, outputs output.Files) error {
	if err := checkNoFilters(path); err != nil {
		return err
	}
	f, err := dbfile.Open(path, dbfile.Options{ScanOnly: true, Outputs: outputs})
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	err = f.Wrap(u.add(f.Reader))
	if errors.Is(err, errNoUnion) {
		return errors.Join(err, errHowToUnite)
	}
	return err
}

// add adds a table. After an error, u is as before.
func (u *union) add(r *table.Reader) error {
	p, err := r.Properties()
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return err
	}
	if !r.FilterOnly() {
		return fmt.Errorf("%w: the table has entries, so it is not only a filter", errNoUnion)
	}
	if want := (filter.TableBloom{}).Name(); p.FilterPolicy != want {
		return fmt.Errorf("%w: the filter policy is %.100q, not %s", errNoUnion, p.FilterPolicy, want)
	}
	first := cmp.Or(u.first, p)
	if err := cmp.Or(
		checkSame("Comparer", p.Comparer, first.Comparer),
		checkSame("FilterPrefix", p.FilterPrefix, first.FilterPrefix),
	); err != nil {
		return err
	}
	if p.FilterEntries > 0 {
		if err := u.addFilter(r); err != nil {
			return err
		}
	}
	u.first, u.keys = first, u.keys+min(p.FilterEntries, math.MaxUint64-u.keys)
	return nil
}

// checkSame returns an error if a property differs from the first table's.
func checkSame(property, got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%w: %s is %.100q, but %.100q in the first file", errNoUnion, property, got, want)
}

// addFilter adds the filter of a table that has keys.
func (u *union) addFilter(r *table.Reader) error {
	l, err := r.Tail()
	if err != nil {
		return err
	}
	filters, err := l.Filters()
	if err != nil {
		return err
	}
	contents, _, err := l.ReadBlock(filters.TableEntry.Handle)
	if err != nil {
		return err
	}
	exceptions, ok := Exceptions(&filters, maxExpansion)
	if !ok {
		return fmt.Errorf("the exceptions are over %d times as long as their block: use fewer or shorter ones", maxExpansion)
	}
	opened, err := filter.TableBloom{}.Open(contents)
	if err == nil && u.tables != nil {
		contents, err = filter.UnionTable(u.filter, contents)
	}
	if err != nil {
		return fmt.Errorf("%w: %v", errNoUnion, err)
	}
	u.filter, u.tables = contents, append(u.tables, unitedFilter{opened, exceptions})
	return nil
}

// maxExpansion bounds the total length of exceptions, as a multiple of the length of their block.
const maxExpansion = 320

// exceptions returns, in bytewise order, the exceptions that all tables rule out. The others may be keys of
// another table. It counts them in leftOut.
func (u *union) exceptions() (keys [][]byte) {
	for _, f := range u.tables {
		keys = append(keys, f.exceptions...)
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	all := len(keys)
	keys = slices.DeleteFunc(keys, func(key []byte) bool {
		return slices.ContainsFunc(u.tables, func(f unitedFilter) bool { return !f.rulesOut(key) })
	})
	u.leftOut = all - len(keys)
	return keys
}

// write writes the merged table. It equals a FilterOnly table of all keys, with two differences: FilterEntries
// counts a key of several tables several times, and exceptions that may be keys of another table are left out.
// False positives of the union alone do not become exceptions.
func (u *union) write(to io.Writer) error {
	o := table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.TableBloom{}}
	o.Comparer = namedOrder{table.BytewiseComparer, u.first.Comparer}
	if u.first.FilterPrefix != "" {
		o.FilterPrefix = namedPrefixer(u.first.FilterPrefix)
	}
	if keys := u.exceptions(); len(keys) > 0 {
		o.Never = Never(keys)
	}
	w, err := table.NewWriter(to, &o)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if u.tables != nil {
		if err := w.SetTableFilter(u.filter, u.keys); err != nil {
			return err
		}
	}
	return w.Close()
}

// mostKeys returns the maximum number of keys for which a filter has this size and k.
func mostKeys(i filter.Inspection) uint64 {
	const most = 10 // more bits do not raise k
	bits := sort.Search(most, func(bits int) bool { return filter.NewTableBloom(bits).K() >= i.K })
	return uint64(i.Bits) / uint64(max(bits, 1))
}

// A namedOrder has the name of a Comparer that may be unknown. It never orders keys: the table has none, and its
// exceptions are in bytewise order.
type namedOrder struct {
	table.Comparer
	name string
}

func (o namedOrder) Name() string { return o.name }

// A namedPrefixer is the name of a Prefixer that may be unknown. The filter already contains the prefixes.
type namedPrefixer string

func (p namedPrefixer) Name() string       { return string(p) }
func (namedPrefixer) PrefixLen([]byte) int { return 0 }
