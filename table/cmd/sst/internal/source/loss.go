package source

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A Loss is a range of keys of which some or all are lost, because a table, or a part of it, cannot
// be read. In a database, an older version of such a key may show, or one that was deleted.
type Loss struct {
	Keys KeyRange
	Err  error // what is damaged
	More int   // number of further damaged blocks in the range

	// Ranges is how many ranges it stands for, if Keys is from the first to the last of them. 0: one.
	Ranges int

	path   string
	level  int  // of the table, or -1 if the MANIFEST does not list it
	sorted bool // all keys that were found are there, sorted: keys are lost only if they were altered
}

func (l *Loss) Error() string {
	more := ""
	if l.More > 0 {
		more = ", and " + format.Plural(uint64(l.More), "more place")
	}
	why, parts := strings.TrimPrefix(l.Err.Error(), "table: "), ""
	m := dbdir.MissingTable{}
	if errors.As(l.Err, &m) {
		why = "missing, " + m.Reason()
	}
	if l.Ranges > 1 {
		parts = fmt.Sprintf(" in %d ranges", l.Ranges)
	}
	if l.sorted {
		return fmt.Sprintf("keys out of order among the %s%s: kept and sorted, but some may be corrupt, and the original keys lost (%s%s)", l.Keys, parts, why, more)
	}
	if m.Flaw != "" {
		return fmt.Sprintf("the %s%s may be lost (%s%s)", l.Keys, parts, why, more)
	}
	return fmt.Sprintf("lost the %s%s (%s%s)", l.Keys, parts, why, more)
}

// Unwrap returns what is damaged.
func (l *Loss) Unwrap() error { return l.Err }

// InFile returns the Loss with the name of the file.
func (l *Loss) InFile() error { return &dbfile.FileError{Path: l.path, Err: l} }

// newLoss returns a Loss in the file that err names.
func newLoss(path string, keys KeyRange, err error) Loss {
	if e := (*dbfile.FileError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return Loss{Keys: keys, Err: err, path: path}
}

// lose takes note that keys of a table are lost, or sorted, once for each cause. What is lost of a spare or an obsolete one does not count.
func (s *Source) lose(t *Table, cause string, keys KeyRange, sorted bool, err error) {
	id := t.Path + "\x00" + cause
	if t.Spare || t.Obsolete || s.losses.noted[id] {
		return
	}
	l := newLoss(t.Path, keys, err)
	l.level, l.sorted = t.Level(), sorted
	s.losses.noted[id], s.losses.all = true, append(s.losses.all, l)
}

// loseKey takes note that one key of a table is lost, or sorted.
func (s *Source) loseKey(t *Table, user []byte, sorted bool, err error) {
	key := bytes.Clone(user)
	s.lose(t, "key "+string(key), KeyRange{From: key, To: key}, sorted, err)
}

// loseTable takes note that a table cannot be opened, and so can have lost keys.
func (s *Source) loseTable(t *Table, keys KeyRange, err error) { s.lose(t, "table", keys, false, err) }

// isPassedOver reports whether reading goes on after an error of a table, without what the error is
// about.
func (s *Source) isPassedOver(err error) bool {
	return errors.Is(err, table.ErrCorrupt) && !s.o.Strict
}

// onLoss returns IterOptions.OnLoss for a table: it goes on, and takes note of the Loss. With Options.Strict it is nil. A
// repair does not go on where keys are out of order until SortDisordered sorts them.
func (s *Source) onLoss(t *Table, f *dbfile.File) func(table.Loss) bool {
	if s.o.Strict {
		return nil
	}
	all, isOrdered := s.keysOf(t), !f.Rewritten && (s.Order == table.AnyOrder || f.Order == s.Order)
	return func(l table.Loss) bool {
		e := l.Err.(*table.CorruptionError)
		disorder := errors.Is(e, table.ErrOrder)
		if disorder && (!f.Declared.Trusted || s.o.Salvage && !s.sortsDisorder) {
			return false // the order may be another one
		}
		if _, noted := t.lostBlocks[e.Offset]; noted {
			return true
		}
		keys := all // in another order, a block can have had any of the table
		if isOrdered {
			keys = s.within(keysBetween(f, e.KeysAfter, e.KeysUpTo), all)
		}
		if t.lostBlocks == nil {
			t.lostBlocks = map[int64]KeyRange{}
		}
		t.lostBlocks[e.Offset], t.disordered = keys, t.disordered || disorder && s.sortsDisorder
		s.lose(t, fmt.Sprint("block ", e.Offset), keys, disorder && s.sortsDisorder, e)
		return true
	}
}

// losses are what a Source has lost, in the order in which it was found.
type losses struct {
	all   []Loss
	noted map[string]bool // see lose
}

// lossIn returns a Loss in a table as an error, or nil.
func (s *Source) lossIn(t *Table) error {
	i := slices.IndexFunc(s.losses.all, func(l Loss) bool { return l.path == t.Path })
	if i < 0 {
		return nil
	}
	return s.losses.all[i].InFile()
}

// keysOf returns the range of a table, as far as it is known.
func (s *Source) keysOf(t *Table) KeyRange {
	if t.internalKeys {
		return userKeys(t.smallest, t.largest)
	}
	return KeyRange{From: t.smallest, To: t.largest}
}

// userKeys returns the range of the user keys of internal keys.
func userKeys(from, to []byte) KeyRange {
	return KeyRange{From: internalkey.UserKey(from), To: internalkey.UserKey(to)}
}

// within returns the part of a range that is within the range of its table.
func (s *Source) within(r, all KeyRange) KeyRange {
	if s.Order == table.AnyOrder {
		return r
	}
	if r.From == nil || all.From != nil && s.Order.Compare(r.From, all.From) < 0 {
		r.From, r.AfterFrom = all.From, false
	}
	if r.To == nil || all.To != nil && s.Order.Compare(all.To, r.To) < 0 {
		r.To, r.BeforeTo = all.To, false
	}
	if r.From != nil && r.To != nil && s.Order.Compare(r.From, r.To) > 0 { // it is a part of another table
		return all
	}
	return r
}

// keysBetween returns the range of keys > one separator and ≤ the next. Of the user key of the first one there can be
// older versions, unless its sequence number is 0. One with the maximum sequence number is before all versions.
func keysBetween(f *dbfile.File, after, upTo []byte) KeyRange {
	if !f.Internal {
		return KeyRange{From: after, To: upTo, AfterFrom: true}
	}
	keys := userKeys(after, upTo)
	from, _ := internalkey.Parse(after)
	to, _ := internalkey.Parse(upTo)
	keys.AfterFrom, keys.BeforeTo = keys.From != nil && from.Sequence == 0, to.Sequence == internalkey.MaxSequence
	return keys
}

// LossIn returns an error of a table as a Loss, if it is the damage of a data block. It wraps others.
func LossIn(f *dbfile.File, err error) error {
	e, ok := err.(*table.CorruptionError)
	if !ok || e.KeysUpTo == nil {
		return f.Wrap(err)
	}
	l := newLoss(f.Path, keysBetween(f, e.KeysAfter, e.KeysUpTo), f.Wrap(e))
	return l.InFile()
}

// LossOf returns the error of opening a table as a Loss, if it is damage and the range of the table
// is known.
func LossOf(l dbdir.TableFile, err error) error {
	loss := newLoss(l.Path, KeyRange{}, err)
	switch {
	case !errors.Is(err, table.ErrCorrupt):
		return err
	case l.Line != nil:
		loss.Keys = KeyRange{From: l.Line.Smallest, To: l.Line.Largest}
	case l.Meta != nil:
		loss.Keys = userKeys(l.Meta.Smallest, l.Meta.Largest)
	default:
		return err
	}
	return loss.InFile()
}

// Losses returns what was lost so far within a range of keys. Damaged blocks next to each other
// are one Loss. Those of a scan in ascending order are found before it shows a greater key.
func (s *Source) Losses(within KeyRange) (all []Loss) {
	for _, l := range s.losses.all {
		if n := len(all); l.Keys.overlaps(s.Order, within) && (n == 0 || !all[n-1].join(&l)) {
			all = append(all, l)
		}
	}
	return all
}

// join adds the next Loss of the file to l if it is of the next data block, and reports whether it is.
func (l *Loss) join(next *Loss) bool {
	if l.path != next.path || l.sorted != next.sorted || l.Keys.To == nil || next.Keys.From == nil || !bytes.Equal(l.Keys.To, next.Keys.From) {
		return false
	}
	l.Keys.To, l.Keys.BeforeTo = next.Keys.To, next.Keys.BeforeTo
	l.More++
	return true
}

// ByFile returns one Loss for each file, in the order of the first ones.
func (s *Source) ByFile(losses []Loss) []Loss {
	var all []Loss
	for _, l := range losses {
		i := slices.IndexFunc(all, func(a Loss) bool { return a.path == l.path && a.sorted == l.sorted })
		if i < 0 {
			l.Ranges = 1
			all = append(all, l)
			continue
		}
		all[i].Keys = all[i].Keys.extend(s.Order, l.Keys)
		all[i].More += l.More + 1
		all[i].Ranges++
	}
	return all
}

// JoinLosses joins Losses of data blocks of a table that are next to each other, in the order of their keys.
func JoinLosses(err error) error {
	var all []error
	var last *Loss
	for _, err := range dbfile.Leaves(err) {
		l := (*Loss)(nil)
		if !errors.As(err, &l) || last == nil || !last.join(l) {
			last, all = l, append(all, err)
		}
	}
	return errors.Join(all...)
}

// Hull returns the smallest range that has the keys of all losses.
func (s *Source) Hull(losses []Loss) KeyRange {
	all := losses[0].Keys
	for _, l := range losses[1:] {
		all = all.extend(s.Order, l.Keys)
	}
	return all
}

// HasLayers reports whether the source is a set with layers.
func (s *Source) HasLayers() bool { return s.dir.Layers > 0 }

// HasVersions reports whether older versions can show in place of what is lost.
func (s *Source) HasVersions() bool {
	return s.Internal || len(s.Tables) > 1 && (!s.isSet() || s.dir.Layers > 0)
}
