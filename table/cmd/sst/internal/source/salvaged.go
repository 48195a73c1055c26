package source

import (
	"bytes"
	"errors"
	"iter"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/internalkey"
)

// openSalvaged reads the pairs that package salvage finds in a table that cannot be opened. Keys that may be
// missing are a Loss. If nothing can be salvaged, it returns damage.
func (s *Source) openSalvaged(t *Table, damage error) (*dbfile.File, error) {
	o := t.FileOptions(s.o.ListOptions)
	f, err := dbfile.OpenDamaged(t.Path, o)
	if err != nil {
		s.loseTable(t, s.keysOf(t), damage)
		return nil, damage
	}
	if o.InManifest() {
		o.InternalKeys = dbfile.Yes
	}
	found, err := salvage.Open(f, o.InternalKeys)
	if err != nil {
		s.loseTable(t, s.keysOf(t), damage)
	} else {
		var first []byte
		if t.Meta != nil {
			first = t.Meta.Smallest
		}
		whole := found.WholeUntil(first)
		for name, n := range found.Compressions {
			s.Compressions[name] += n
		}
		s.loseAfter(t, f.Internal, whole, damage)
		err = f.ReadSorted(s.ownPairs(t, f, found, whole), dbfile.Stored{Internal: f.Internal, Order: s.Order}, s.loseRepeated(t, f), s.o.TempDir)
		t.inDatabase = f.InDatabase()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// loseAfter records the keys that a table that cannot be opened may have lost: the keys after whole, see
// WholeUntil, up to the last one that the MANIFEST lists.
func (s *Source) loseAfter(t *Table, internal bool, whole []byte, damage error) {
	rest := s.keysOf(t)
	if t.Meta != nil && internal && whole != nil && s.Order != table.AnyOrder {
		rest.From, rest.AfterFrom = internalkey.UserKey(whole), true
		if rest.From != nil && rest.To != nil && s.Order.Compare(rest.From, rest.To) >= 0 {
			s.note("%v: all keys were recovered from its other blocks", damage)
			return
		}
	}
	s.loseTable(t, rest, damage)
}

// ownPairs yields the pairs that can belong to the table. If a value of this table is itself a table, a search for
// blocks finds its blocks too. Up to the key last all pairs are the table's own, so leaving one out is a Loss.
func (s *Source) ownPairs(t *Table, f *dbfile.File, found *salvage.Salvage, last []byte) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		whole := last != nil
		for p, err := range found.Pairs() {
			isOwn := err != nil || !f.Internal || s.mayHave(t, p.Key, whole)
			switch {
			case isOwn && !yield(p, err):
				return
			case !isOwn && whole:
				s.loseKey(t, internalkey.UserKey(p.Key), false, dbfile.Corruption("not in the key range that the MANIFEST lists"))
			}
			whole = whole && !bytes.Equal(p.Key, last)
		}
	}
}

// mayHave reports whether a table can contain an internal key, by the key's form and the range in the MANIFEST. If
// anyKind is true, its kind does not matter.
func (s *Source) mayHave(t *Table, key []byte, anyKind bool) bool {
	k, ok := internalkey.Parse(key)
	if !ok || k.Kind > internalkey.Set && !anyKind {
		return false
	}
	if t.Meta == nil || s.Order == table.AnyOrder {
		return true
	}
	order := table.InternalComparer(s.Order)
	return order.Compare(key, t.Meta.Smallest) >= 0 && order.Compare(key, t.Meta.Largest) <= 0
}

// SortDisordered sorts the tables whose keys, despite valid checksums, are out of order or outside the range in the
// MANIFEST. After a repair's Scan has failed with table.ErrOrder, it can then be started again. Each block with
// such keys is a Loss, and so is each misplaced key.
func (s *Source) SortDisordered() error {
	s.sortsDisorder, s.runs = true, nil // ranges of tables can change
	for _, t := range s.Tables {
		f, err := s.open(t)
		if err == nil && !f.IsSorted() {
			for _, failed := range s.pairs(t, f) {
				err = failed
			}
			if t.smallest != nil {
				_, _, outside := f.CheckRange(t.smallest, t.largest)
				t.disordered = t.disordered || outside != nil
			}
			if err == nil && t.disordered {
				err = s.sortAgain(t, f)
				s.loseEnds(t, f)
				t.setEnds(f)
			}
			err = errors.Join(err, s.release(t, f))
		}
		if err != nil && !s.isPassedOver(err) {
			return err
		}
	}
	return nil
}

// loseEnds records the first and last key that the MANIFEST lists, if a sorted table lacks them: another of its
// keys was altered, and may originally have been one of these.
func (s *Source) loseEnds(t *Table, f *dbfile.File) {
	if t.Meta == nil || !f.IsSorted() {
		return
	}
	for _, key := range [][]byte{t.Meta.Smallest, t.Meta.Largest} {
		if _, err := f.Reader.Get(key); errors.Is(err, table.ErrNotFound) {
			user := internalkey.UserKey(key)
			s.lose(t, "end "+string(user), KeyRange{From: user, To: user}, false, dbfile.Corruption("not in the table, though the MANIFEST lists it as the first or last key"))
		}
	}
}

// pairs yields the entries of a table. A misplaced key is a Loss. A key that is no internal key is a Loss too, and
// left out.
func (s *Source) pairs(t *Table, f *dbfile.File) iter.Seq2[input.Pair, error] {
	o := table.IterOptions{ReadAhead: readAhead, OnLoss: s.onLoss(t, f)} // now, since ReadSorted changes f
	return func(yield func(input.Pair, error) bool) {
		it := f.Reader.NewIter(&o)
		defer it.Close() // Error is checked below
		for it.Next() {
			block, lost := t.lostBlocks[int64(it.Block().Offset)]
			user := f.FilterKey(it.Key())
			if f.Internal && user == nil {
				s.loseKey(t, it.Key(), false, dbfile.Corruption("not an internal key"))
				continue
			}
			if lost && !block.overlaps(s.Order, KeyRange{From: user, To: user}) || t.disordered && !s.mayHave(t, it.Key(), true) {
				s.loseKey(t, user, true, dbfile.Corruption("out of place"))
			}
			if !yield(input.Pair{Key: it.Key(), Value: it.Value()}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(input.Pair{}, f.Wrap(err))
		}
	}
}

// loseRepeated returns a function that records an entry left out because an earlier one has the same key.
func (s *Source) loseRepeated(t *Table, f *dbfile.File) func(key []byte) {
	return func(key []byte) {
		s.loseKey(t, f.FilterKey(key), false, dbfile.Corruption("two entries with the same sequence number: kept the first in the file"))
	}
}
