package source

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/internalkey"
)

// isNeeded reports whether an entry may count. Of an obsolete table, only deletions count. Hidden entries do not
// count. Entries of a spare table count only if something is lost that may have been them: an engine that was
// killed had not finished or listed the table. Its entries are either in other tables or logs too, or were never
// committed, like the tables of goleveldb's transactions.
func (c *LossCursor) isNeeded(e Entry) bool {
	s := c.s
	switch {
	case e.Table == nil:
		return true
	case e.Table.Obsolete && e.Kind != internalkey.Delete || s.hides(e):
		return false
	case !e.Table.Spare || s.dir.LostLog > 0:
		return true
	case e.Sequence <= s.dir.Version.LastSequence && c.IsLost(e.Key): // not newer than the listed tables
		return true
	}
	return slices.ContainsFunc(s.logs.lossy, func(l *dbfile.Log) bool { return l.MayHaveLost(e.Sequence) })
}

// hiddenFrom returns the sequence number from which on entries of tables are hidden, as in engines, or 0 if none
// are. A repair hides nothing, nor does a database whose MANIFEST may be out of date.
func (s *Source) hiddenFrom() uint64 {
	if !s.dir.IsOrdered() || s.inTables() == math.MaxUint64 || s.o.Repair {
		return 0
	}
	return max(s.dir.Version.LastSequence, s.logs.last) + 1
}

// hides reports whether an entry of a table is hidden, as in engines.
func (s *Source) hides(e Entry) bool {
	from := s.hiddenFrom()
	if from == 0 || e.Sequence < from {
		return false
	}
	if !s.hiding { // formatting the note for each entry would take longer than the scan
		s.hiding = true
		s.note("%s: entries with sequence numbers ≥ %d, above the MANIFEST's last one, are hidden, as in engines. To keep them, %s",
			s.Path, from, dbfile.RepairAdvice(s.Path))
	}
	return true
}

// A LossCursor reports which keys a Source has lost. It must be used with the keys of a Scan in ascending order.
type LossCursor struct {
	s     *Source
	seen  int         // number of losses that were added to ahead
	ahead lossesAhead // losses that begin after the last key: a heap, since each key can be a loss
	here  []Loss      // losses that begin at or before the last key, and do not end before it
}

// NewLossCursor returns a LossCursor before the first key.
func (s *Source) NewLossCursor() *LossCursor {
	return &LossCursor{s: s, ahead: lossesAhead{order: s.Order}}
}

// lossesAhead is a heap of losses, ordered by their first keys.
type lossesAhead struct {
	order  table.Comparer
	losses []Loss
}

func (h *lossesAhead) Len() int      { return len(h.losses) }
func (h *lossesAhead) Swap(i, j int) { h.losses[i], h.losses[j] = h.losses[j], h.losses[i] }
func (h *lossesAhead) Push(x any)    { h.losses = append(h.losses, x.(Loss)) }

func (h *lossesAhead) Less(i, j int) bool {
	a, b := h.losses[i].Keys.From, h.losses[j].Keys.From
	return b != nil && (a == nil || h.order.Compare(a, b) < 0)
}

func (h *lossesAhead) Pop() any {
	last := h.losses[len(h.losses)-1]
	h.losses = h.losses[:len(h.losses)-1]
	return last
}

// hasBegun reports whether the first loss, if there is one, begins at or before key.
func (h *lossesAhead) hasBegun(key []byte) bool {
	return len(h.losses) > 0 && (h.losses[0].Keys.From == nil || h.order.Compare(h.losses[0].Keys.From, key) <= 0)
}

// IsLost reports whether entries of a key may be lost.
func (c *LossCursor) IsLost(key []byte) bool { return c.isLostUpTo(math.MaxInt, key) }

// isLostUpTo reports whether entries of a key may be lost in levels ≤ level, or in unlisted tables.
func (c *LossCursor) isLostUpTo(level int, key []byte) bool {
	for ; c.seen < len(c.s.losses.all); c.seen++ {
		heap.Push(&c.ahead, c.s.losses.all[c.seen])
	}
	for c.ahead.hasBegun(key) {
		c.here = append(c.here, heap.Pop(&c.ahead).(Loss))
	}
	c.here = slices.DeleteFunc(c.here, func(l Loss) bool { return l.Keys.endsBefore(c.s.Order, key, false) })
	return slices.ContainsFunc(c.here, func(l Loss) bool {
		return l.level <= level && l.Keys.overlaps(c.s.Order, KeyRange{From: key, To: key})
	})
}

// IsCertain reports whether an entry of Scan is the newest write to its key despite the database's damage. Live
// logs are newer than all tables, and each level is newer than higher levels. Level 0 counts as one level, since
// repairs of engines do not number its tables by age. Unlisted tables and logs may be obsolete.
func (c *LossCursor) IsCertain(e Entry) bool {
	s := c.s
	if s.dir.Doubt || s.logs.lost > 0 && e.Sequence <= s.logs.lost {
		return false
	}
	switch {
	case e.Table == nil:
		n, err := versions.FileNumber(e.Log)
		isNewest := slices.Contains(s.dir.LiveLogs, e.Log) && err == nil && n >= s.dir.LostLog
		return isNewest && (s.dir.IsOrdered() || !c.IsLost(e.Key))
	case e.Table.Meta == nil || s.dir.LostLog > 0:
		return false
	case s.dir.IsOrdered():
		return !c.isLostUpTo(e.Table.Meta.Level, e.Key)
	}
	return !c.IsLost(e.Key)
}

// A KeyRange is a range of user keys.
type KeyRange struct {
	From, To            []byte // nil: unbounded
	AfterFrom, BeforeTo bool   // the range excludes From, or To
}

// String describes the range, such as `keys ≥ "a" and ≤ "b"`.
func (r KeyRange) String() string {
	var bounds []string
	if r.From != nil {
		bounds = append(bounds, map[bool]string{false: "≥ ", true: "> "}[r.AfterFrom]+format.Quote(r.From))
	}
	if r.To != nil {
		bounds = append(bounds, map[bool]string{false: "≤ ", true: "< "}[r.BeforeTo]+format.Quote(r.To))
	}
	if bounds == nil {
		return "keys of an unknown range"
	}
	return "keys " + strings.Join(bounds, " and ")
}

// endsBefore reports whether all keys of the range are < from or, if after is true, ≤ from. A nil from precedes all
// keys.
func (r KeyRange) endsBefore(order table.Comparer, from []byte, after bool) bool {
	if r.To == nil || from == nil {
		return false
	}
	c := order.Compare(r.To, from)
	return c < 0 || c == 0 && (r.BeforeTo || after)
}

// overlaps reports whether a key can be in both ranges. If the order is unknown, any key can.
func (r KeyRange) overlaps(order table.Comparer, o KeyRange) bool {
	return order == table.AnyOrder || !r.endsBefore(order, o.From, o.AfterFrom) && !o.endsBefore(order, r.From, r.AfterFrom)
}

// extend returns the smallest range that contains both r and o.
func (r KeyRange) extend(order table.Comparer, o KeyRange) KeyRange {
	if order == table.AnyOrder {
		return KeyRange{}
	}
	if r.From != nil && (o.From == nil || order.Compare(o.From, r.From) <= 0) {
		r.AfterFrom = o.AfterFrom && (r.AfterFrom || order.Compare(o.From, r.From) < 0)
		r.From = o.From
	}
	if r.To != nil && (o.To == nil || order.Compare(o.To, r.To) >= 0) {
		r.BeforeTo = o.BeforeTo && (r.BeforeTo || order.Compare(o.To, r.To) > 0)
		r.To = o.To
	}
	return r
}

// checkKind returns an error if LevelDB does not have the kind of e, since its value is then unknown. In a LevelDB
// database this is damage. Other tables may come from an engine that has the kind.
func (s *Source) checkKind(e Entry) error {
	if e.Kind <= internalkey.Set {
		return nil
	}
	if !e.Table.inDatabase {
		return fmt.Errorf("%s: the newest version of key %s is of kind %s, which only its engine can read (%s prints it)",
			s.Path, format.Quote(e.Key), dbfile.KindName(e.Kind), files.CommandLine("scan --versions %s", s.Path))
	}
	f, err := s.open(e.Table)
	if err != nil {
		return err
	}
	key := internalkey.Key{UserKey: e.Key, Sequence: e.Sequence, Kind: e.Kind}
	it := f.Reader.NewIter(nil)
	it.SeekGE(key.Append(nil))
	block := it.Block()
	return errors.Join(it.Close(), f.Wrap(dbfile.KindDamage(key, block)), s.release(e.Table, f))
}

// leavesOut reports whether a scan skips e, the newest version of its key: because it is a tombstone, or because
// its kind is damage that scans skip. In the second case the key becomes a Loss.
func (s *Source) leavesOut(e Entry, o ScanOptions) (bool, error) {
	err := s.checkKind(e)
	if s.isPassedOver(err) {
		s.loseKey(e.Table, e.Key, false, err)
		return true, nil
	}
	return e.Kind == internalkey.Delete && !o.Tombstones, err
}
