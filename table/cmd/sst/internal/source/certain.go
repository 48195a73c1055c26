package source

import (
	"math"
	"slices"

	"github.com/sievetable/sievetable/internal/versions"
)

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
	d.addDamage("", "--no-log leaves out %s, so older and deleted versions may show", firstNames(filesOf(logs)))
}

// filesOf returns what firstNames takes.
func filesOf(paths []string) (all []TableFile) {
	for _, path := range paths {
		all = append(all, TableFile{Path: path})
	}
	return all
}

// A LossCursor says which keys a Source has lost, for keys in ascending order that its Scan yields.
type LossCursor struct {
	s     *Source
	seen  int    // losses that were looked at
	ahead []Loss // those of them that do not end before the last key
}

// NewLossCursor returns a LossCursor before the first key.
func (s *Source) NewLossCursor() *LossCursor { return &LossCursor{s: s} }

// IsLost reports whether entries of a key are lost.
func (c *LossCursor) IsLost(key []byte) bool { return c.isLostUpTo(math.MaxInt, key) }

// isLostUpTo reports whether entries of a key are lost in levels ≤ level, or in tables that are not listed.
func (c *LossCursor) isLostUpTo(level int, key []byte) bool {
	for ; c.seen < len(c.s.losses.all); c.seen++ {
		c.ahead = append(c.ahead, c.s.losses.all[c.seen])
	}
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
