package source

import (
	"errors"
	"iter"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// Salvaged is what can be read of a damaged table.
type Salvaged struct {
	Pairs      iter.Seq2[input.Pair, error] // in any order
	Internal   bool                         // the keys are internal keys
	WholeUntil []byte                       // all entries up to this key are there; nil: it is unknown
}

// openSalvaged opens what Options.Salvage finds in a table that cannot be opened, or returns that damage.
// What can be missing is a Loss.
func (s *Source) openSalvaged(t *Table, damage error) (*File, error) {
	f, err := OpenDamaged(t.Path, t.Options(s.o))
	if err != nil {
		s.loseTable(t, damage)
		return nil, damage
	}
	o := t.Options(s.o)
	if o.InManifest {
		o.InternalKeys = Yes
	}
	found, err := s.o.Salvage(f, o.InternalKeys)
	if err != nil {
		s.loseTable(t, damage)
		return nil, errors.Join(err, f.Close())
	}
	s.loseBehind(t, found, damage)
	if err := f.readSalvaged(s.ownPairs(t, found.Pairs, found.Internal), s.Order, found.Internal); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// loseBehind takes note of what a table that cannot be opened can have lost: keys that follow those that were
// found one after the other, up to the last one that the MANIFEST has.
func (s *Source) loseBehind(t *Table, found Salvaged, damage error) {
	if t.Meta == nil || !found.Internal || found.WholeUntil == nil || s.Order == table.AnyOrder {
		s.loseTable(t, damage)
		return
	}
	rest := s.keysOf(t)
	rest.From, rest.AfterFrom = table.InternalFilterKey(found.WholeUntil), true
	if rest.From == nil || rest.To == nil || s.Order.Compare(rest.From, rest.To) < 0 {
		s.loseKeys(t, rest, damage)
		return
	}
	t.lost = true
	s.note("%v: all of its keys were found by the checksums of its blocks", damage)
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
