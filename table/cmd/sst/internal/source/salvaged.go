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

// openSalvaged opens what package salvage finds in a table that cannot be opened, or returns that damage.
// What can be missing is a Loss.
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
		s.loseBehind(t, found.Internal, whole, damage)
		err = f.ReadSorted(s.ownPairs(t, found, whole), dbfile.Stored{Internal: found.Internal, Order: s.Order}, s.loseRepeated(t, f), s.o.TempDir)
		t.inDatabase = f.InDatabase()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// loseBehind takes note of what a table that cannot be opened can have lost: keys that follow those that were
// found one after the other, up to the last one that the MANIFEST has.
func (s *Source) loseBehind(t *Table, internal bool, whole []byte, damage error) {
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

// ownPairs leaves out pairs that cannot be those of the table: a search for blocks also finds those of a
// table that is a value of this one. Up to the key last they are the table's, and what is left out of them is a Loss.
func (s *Source) ownPairs(t *Table, found *salvage.Salvage, last []byte) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		whole := last != nil
		for p, err := range found.Pairs() {
			isOwn := err != nil || !found.Internal || s.mayHave(t, p.Key, whole)
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

// mayHave reports whether a table can have an internal key, by its form and by the MANIFEST. anyKind says that its
// kind does not matter.
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

// SortDisordered has the tables sorted whose keys are out of order, or of the range that the MANIFEST says, under
// right checksums. A Scan of a repair that has ended with table.ErrOrder can then begin again. Each block with such
// keys is a Loss, and so is each key that is where others belong.
func (s *Source) SortDisordered() error {
	s.sortsDisorder, s.runs = true, nil // whose ranges can change
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

// loseEnds takes note of the first and the last key that the MANIFEST gives a sorted table, if that lacks them: one of
// its other keys was altered, and these are what it can have been.
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

// pairs returns the entries of a table. A key that is where others belong is a Loss, and so is one that is no internal
// key, which it leaves out.
func (s *Source) pairs(t *Table, f *dbfile.File) iter.Seq2[input.Pair, error] {
	o := table.IterOptions{ReadAhead: readAhead, OnLoss: s.onLoss(t, f)} // before f is another table
	return func(yield func(input.Pair, error) bool) {
		it := f.Reader.NewIter(&o)
		defer it.Close() // returns Error again
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

// loseRepeated returns a function that takes note of an entry that is left out, because one before has the same key.
func (s *Source) loseRepeated(t *Table, f *dbfile.File) func(key []byte) {
	return func(key []byte) {
		s.loseKey(t, f.FilterKey(key), false, dbfile.Corruption("two entries with the same sequence number: kept the first in the file"))
	}
}
