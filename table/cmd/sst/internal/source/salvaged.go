package source

import (
	"errors"
	"iter"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// openSalvaged opens what Options.Salvage finds in a table that cannot be opened, or returns that damage.
func (s *Source) openSalvaged(t *Table, damage error) (*File, error) {
	f, err := OpenDamaged(t.Path, t.Options(s.o))
	if err != nil {
		return nil, damage
	}
	o := t.Options(s.o)
	if o.InManifest {
		o.InternalKeys = Yes
	}
	pairs, internal, err := s.o.Salvage(f, o.InternalKeys)
	if err == nil {
		err = f.readSalvaged(s.ownPairs(t, pairs, internal), s.Order, internal)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readSalvaged makes the Reader read a sorted copy of pairs.
func (f *File) readSalvaged(pairs iter.Seq2[input.Pair, error], user table.Comparer, internal bool) (err error) {
	if f.Reader != nil {
		err = f.Reader.Close()
	}
	f.Reader = nil
	f.Internal, f.Order, f.Rewritten, f.Damage, f.Layout, f.filters = internal, user, false, nil, nil, Filters{}
	f.Options.Comparer = f.Comparer()
	sorted, failed := newSortedTable(pairs, user, internal)
	if failed == nil {
		f.sorted, f.Reader = sorted, sorted.Reader
		_, none := f.Reader.FirstKey()
		f.Empty = errors.Is(none, table.ErrNotFound)
	}
	return errors.Join(err, failed)
}

// ownPairs leaves out pairs that cannot be those of the table: a search for blocks also finds those of a
// table that is a value of this one.
func (s *Source) ownPairs(t *Table, pairs iter.Seq2[input.Pair, error], internal bool) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		for p, err := range pairs {
			if err == nil && internal && !s.mayHave(t, p.Key) {
				continue
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// mayHave reports whether a table can have an internal key, by its form and by the MANIFEST.
func (s *Source) mayHave(t *Table, key []byte) bool {
	k, ok := table.ParseInternalKey(key)
	if !ok || k.Kind > table.KindSet {
		return false
	}
	if t.Meta == nil || s.Order == table.AnyOrder {
		return true
	}
	return s.Order.Compare(k.UserKey, table.InternalFilterKey(t.Meta.Smallest)) >= 0 &&
		s.Order.Compare(k.UserKey, table.InternalFilterKey(t.Meta.Largest)) <= 0
}
