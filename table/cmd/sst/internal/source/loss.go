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
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A Loss is a range of keys, some or all of which are lost because a table or a part of it cannot be read. In a
// database, older versions of these keys, or deleted keys, may show.
type Loss struct {
	Keys KeyRange
	Err  error // the damage
	More int   // number of further damaged blocks in the range

	// Ranges is the number of ranges if Keys spans several, from the first to the last. 0: one.
	Ranges int

	path   string
	level  int  // the table's level, or -1 if the MANIFEST does not list it
	sorted bool // all keys were kept and sorted, and are lost only if they were altered
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

// lose records that keys of a table are lost, or sorted, once for each cause. Losses in spare and obsolete tables
// do not count.
func (s *Source) lose(t *Table, cause string, keys KeyRange, sorted bool, err error) {
	id := t.Path + "\x00" + cause
	if t.Spare || t.Obsolete || s.losses.noted[id] {
		return
	}
	l := newLoss(t.Path, keys, err)
	l.level, l.sorted = t.Level(), sorted
	s.losses.noted[id], s.losses.all = true, append(s.losses.all, l)
}

// loseKey records that one key of a table is lost, or sorted.
func (s *Source) loseKey(t *Table, user []byte, sorted bool, err error) {
	key := bytes.Clone(user)
	s.lose(t, "key "+string(key), KeyRange{From: key, To: key}, sorted, err)
}

// loseTable records that a table cannot be opened, so keys in a range may be lost.
func (s *Source) loseTable(t *Table, keys KeyRange, err error) { s.lose(t, "table", keys, false, err) }

// isPassedOver reports whether reading continues after an error of a table, without the part in question.
func (s *Source) isPassedOver(err error) bool {
	return errors.Is(err, table.ErrCorrupt) && !s.o.Strict
}

// onLoss returns the IterOptions.OnLoss for a table: it records the Loss and continues. With Options.Strict it is
// nil. With Options.Salvage, keys out of order end the scan until SortDisordered was called.
func (s *Source) onLoss(t *Table, f *dbfile.File) func(table.Loss) bool {
	if s.o.Strict {
		return nil
	}
	all, isOrdered := s.keysOf(t), !f.Rewritten && (s.Order == table.AnyOrder || f.Order == s.Order)
	return func(l table.Loss) bool {
		e := l.Err.(*table.CorruptionError)
		disorder := errors.Is(e, table.ErrOrder)
		if disorder && (!f.Declared.Trusted || s.o.Salvage && !s.sortsDisorder) {
			return false // the keys may be in another order
		}
		if _, noted := t.lostBlocks[e.Offset]; noted {
			return true
		}
		keys := all // in another order, the block may have had any key of the table
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

// losses are the losses of a Source, in the order in which they were found.
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

// keysOf returns the key range of a table, as far as it is known.
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

// within returns the part of r that lies within all, the range of its table.
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
	if r.From != nil && r.To != nil && s.Order.Compare(r.From, r.To) > 0 { // the block belongs to another table
		return all
	}
	return r
}

// keysBetween returns the range of keys > one separator and ≤ the next. Older versions of the first separator's
// user key are in the range, unless its sequence number is 0. A separator with the maximum sequence number precedes
// all versions of its user key.
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

// LossIn returns an error of a table as a Loss if a data block is damaged. It wraps other errors.
func LossIn(f *dbfile.File, err error) error {
	e, ok := err.(*table.CorruptionError)
	if !ok || e.KeysUpTo == nil {
		return f.Wrap(err)
	}
	l := newLoss(f.Path, keysBetween(f, e.KeysAfter, e.KeysUpTo), f.Wrap(e))
	return l.InFile()
}

// LossOf returns an error of opening a table as a Loss if the table is damaged and its range is known.
func LossOf(l dbdir.File, err error) error {
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

// Losses returns the losses found so far in a range of keys. Adjacent damaged blocks are one Loss. A scan in
// ascending order finds each loss before it yields a greater key.
func (s *Source) Losses(within KeyRange) (all []Loss) {
	for _, l := range s.losses.all {
		if n := len(all); l.Keys.overlaps(s.Order, within) && (n == 0 || !all[n-1].join(&l)) {
			all = append(all, l)
		}
	}
	return all
}

// join adds next to l if it is a Loss in the file's next data block, and reports whether it did.
func (l *Loss) join(next *Loss) bool {
	if l.path != next.path || l.sorted != next.sorted || l.Keys.To == nil || next.Keys.From == nil || !bytes.Equal(l.Keys.To, next.Keys.From) {
		return false
	}
	l.Keys.To, l.Keys.BeforeTo = next.Keys.To, next.Keys.BeforeTo
	l.More++
	return true
}

// ByFile merges the losses of each file into one, in the order of each file's first loss. Sorted keys are kept
// apart from lost ones.
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

// JoinLosses joins the losses of adjacent data blocks of a table. err must list them in key order.
func JoinLosses(err error) error {
	var all []error
	var last *Loss
	for _, err := range text.Leaves(err) {
		l := (*Loss)(nil)
		if !errors.As(err, &l) || last == nil || !last.join(l) {
			last, all = l, append(all, err)
		}
	}
	return errors.Join(all...)
}

// Hull returns the smallest range that contains all keys of the losses.
func (s *Source) Hull(losses []Loss) KeyRange {
	all := losses[0].Keys
	for _, l := range losses[1:] {
		all = all.extend(s.Order, l.Keys)
	}
	return all
}

// HasLayers reports whether the source is a set with layers.
func (s *Source) HasLayers() bool { return s.dir.Layers > 0 }

// IsEmptyDatabase reports whether the source is a database without tables and logs.
func (s *Source) IsEmptyDatabase() bool { return !s.HasKeys() && s.dir.IsDatabase() }

// HasVersions reports whether older versions can show in place of lost ones.
func (s *Source) HasVersions() bool {
	return s.Internal || len(s.Tables) > 1 && (!s.isSet() || s.dir.Layers > 0)
}
