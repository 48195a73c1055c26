package source

import (
	"math"
	"slices"

	"github.com/sievetable/sievetable/internal/versions"
)

// findLost adds those of the tables to d that the MANIFEST does not list and does not call obsolete, and
// returns the others. If the MANIFEST is damaged, it can have lost the edits that list them. If it is not, they
// are spare: see isNeeded.
func (d *Dir) findLost(unlisted []TableFile) (others []TableFile) {
	h, err := versions.ReadHistory(d.Path, d.Version.Manifest)
	if err != nil {
		d.note("%v: what it does not list is not read", err)
		return unlisted
	}
	var lost []TableFile
	for _, l := range unlisted {
		if !l.hasEngineName() || h.IsObsoleteTable(l.number) || d.Version.Lists(l.number) {
			others = append(others, l)
			continue
		}
		l.Lost, l.Spare = true, d.isWhole()
		lost = append(lost, l)
	}
	switch {
	case len(lost) > 0 && d.isWhole():
		d.note("%s: %s neither lists %s nor calls them obsolete: they were never finished or committed, and are used only where something is lost", d.Path, d.Version.Manifest, firstNames(lost))
	case len(lost) > 0:
		d.note("%s: also reading what can be read of %s, which %s neither lists nor calls obsolete", d.Path, firstNames(lost), d.Version.Manifest)
		d.doubt = true
	}
	d.Tables = append(d.Tables, lost...)
	return others
}

// isNeeded reports whether an entry may count: not if it is of a spare table, and nothing is lost that can have
// been it. An engine that was ended had not finished the table, or not listed it. What counts of it is in other tables
// or logs too. The rest was never committed, as the tables of goleveldb's transactions are not.
func (c *LossCursor) isNeeded(e Entry) bool {
	s := c.s
	if e.Table != nil && e.Sequence > c.shownUpTo {
		if s.hides(e) {
			return false
		}
		c.shownUpTo = e.Sequence // also after the database was listed again, which has more writes then
	}
	if e.Table == nil || !e.Table.Spare || s.dir.lostLog > 0 || c.IsLost(e.Key) {
		return true
	}
	return slices.ContainsFunc(s.logs.damage, func(l *Log) bool { return l.MayHaveLost(e.Sequence) })
}

// hiddenFrom returns the sequence number from which on a database shows nothing of tables, as engines do, or 0. A
// repair reads all, and so it is if the MANIFEST may be out of date.
func (s *Source) hiddenFrom() uint64 {
	if !s.dir.ordered || s.inTables() == math.MaxUint64 || s.o.Repair {
		return 0
	}
	return max(s.dir.Version.LastSequence, s.logs.last) + 1
}

// hides reports whether an entry is one that engines do not show.
func (s *Source) hides(e Entry) bool {
	from := s.hiddenFrom()
	if from == 0 || e.Table == nil || e.Sequence < from {
		return false
	}
	s.note("%s: entries with sequence numbers ≥ %d are not shown, as engines do not show what the MANIFEST does not count: to keep them, run: %s",
		s.Path, from, RepairCommand(s.Path))
	return true
}

// isWhole reports whether nothing says that edits of the MANIFEST are lost.
func (d *Dir) isWhole() bool {
	return !d.doubt && d.Version.Torn == 0 && d.Version.Unread == 0
}

// leaveOutObsolete leaves out the tables and logs that the newest MANIFEST, which is damaged, calls
// obsolete in the edits that can be read.
func (d *Dir) leaveOutObsolete() {
	h := d.history
	if h == nil {
		return
	}
	var obsolete []TableFile
	leaveOut := func(path string, isObsolete func(number uint64) bool) bool {
		l := numbered(path)
		if !l.numbered || !isObsolete(l.number) {
			return false
		}
		obsolete = append(obsolete, l)
		return true
	}
	d.Tables = slices.DeleteFunc(d.Tables, func(l TableFile) bool { return leaveOut(l.Path, h.IsObsoleteTable) })
	d.Logs = slices.DeleteFunc(d.Logs, func(path string) bool { return leaveOut(path, h.IsObsoleteLog) })
	if len(obsolete) > 0 {
		d.note("%s: skipped %s, which %s calls obsolete: to read all tables, use --all-tables", d.Path, firstNames(obsolete), h.Manifest)
	}
}

// loseLog takes note that a log that the MANIFEST names does not exist.
func (d *Dir) loseLog(o Options, number uint64) {
	if o.NoLogs && !o.Repair {
		return
	}
	d.lostLog = max(d.lostLog, number)
	lost, advice := "writes that it had are lost, so", "restore it"
	if d.Version.Torn > 0 {
		lost, advice = "the end of the MANIFEST was cut off, so the log may be obsolete, or writes that it had may be lost:", "if it is not obsolete, restore it"
	}
	if !o.Repair {
		advice += ", or use --no-log"
	}
	d.addDamage(versions.LogName(number), "missing (named in %s): %s older and deleted versions may show: %s", d.Version.Manifest, lost, advice)
}

// leaveOutLogs leaves out the logs, as Options.NoLogs asks. For a repair, what they have is lost.
func (d *Dir) leaveOutLogs(o Options) {
	logs := slices.DeleteFunc(d.Logs, IsEmpty)
	if d.Logs = nil; !o.Repair || len(logs) == 0 {
		return
	}
	d.lostLog = math.MaxUint64
	var left []TableFile
	for _, path := range logs {
		left = append(left, TableFile{Path: path})
	}
	d.addDamage("", "--no-log leaves out %s, so older and deleted versions may show", firstNames(left))
}

// A LossCursor says which keys a Source has lost, for keys in ascending order that its Scan yields.
type LossCursor struct {
	s     *Source
	seen  int    // losses that were looked at
	ahead []Loss // those of them that do not end before the last key

	shownUpTo uint64 // a sequence number: entries with it and lower ones are not hidden
}

// NewLossCursor returns a LossCursor before the first key.
func (s *Source) NewLossCursor() *LossCursor { return &LossCursor{s: s} }

// IsLost reports whether entries of a key are lost.
func (c *LossCursor) IsLost(key []byte) bool { return c.isLostUpTo(math.MaxInt, key) }

// isLostUpTo reports whether entries of a key are lost in levels ≤ level, or in tables that are not listed.
func (c *LossCursor) isLostUpTo(level int, key []byte) bool {
	all := c.s.losses.all
	c.ahead, c.seen = append(c.ahead, all[c.seen:]...), len(all)
	c.ahead = slices.DeleteFunc(c.ahead, func(l Loss) bool { return l.Keys.endsBefore(c.s.Order, key, false) })
	return slices.ContainsFunc(c.ahead, func(l Loss) bool {
		return l.level <= level && l.Keys.overlaps(c.s.Order, KeyRange{From: key, To: key})
	})
}

// IsCertain reports whether an entry of Scan is the newest write to its key, as far as the damage of the
// database tells. Writes of live logs are newer than all tables, and those of a level than those of higher
// levels. Level 0 is one: repairs of engines do not number its tables by their age. Tables and logs that
// the MANIFEST does not list may be obsolete.
func (c *LossCursor) IsCertain(e Entry) bool {
	s := c.s
	if s.dir.doubt || s.logs.lost > 0 && e.Sequence <= s.logs.lost {
		return false
	}
	switch {
	case e.Table == nil:
		n, err := fileNumber(e.Log)
		isNewest := slices.Contains(s.dir.liveLogs, e.Log) && err == nil && n >= s.dir.lostLog
		return isNewest && (s.dir.ordered || !c.IsLost(e.Key))
	case e.Table.Meta == nil || s.dir.lostLog > 0:
		return false
	case s.dir.ordered:
		return !c.isLostUpTo(e.Table.Meta.Level, e.Key)
	}
	return !c.IsLost(e.Key)
}
