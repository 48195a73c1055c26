package main

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/dbdamage"
)

// counts classify the pairs of a repaired database by the contents of the database before it was damaged.
type counts struct {
	right   int // the newest values
	old     int // values that had been overwritten
	deleted int // pairs whose keys had been deleted
	unnamed int // old and deleted pairs that sst does not name
	foreign int // values that the keys never had: from bytes that a repair did not check

	ahead, aheadOfAll ahead // for a peer: compared with sst repair, and with --all-tables
}

func (c *counts) add(o counts) {
	c.right, c.old, c.deleted = c.right+o.right, c.old+o.old, c.deleted+o.deleted
	c.unnamed, c.foreign = c.unnamed+o.unnamed, c.foreign+o.foreign
	c.ahead.add(o.ahead)
	c.aheadOfAll.add(o.aheadOfAll)
}

// ahead counts the right pairs of a peer that sst lacks, by the files in which their writes are undamaged.
type ahead struct {
	live      int // in live files
	obsolete  int // only in files that are obsolete according to the MANIFEST
	unchecked int // nowhere: no checksum matches
}

func (a *ahead) add(o ahead) {
	a.live, a.obsolete, a.unchecked = a.live+o.live, a.obsolete+o.obsolete, a.unchecked+o.unchecked
}

// countAhead counts the right pairs of a peer that sst lacks.
func (m *model) countAhead(peer, sst repaired, left survival) (a ahead) {
	for key := range m.keys {
		if !m.isRight(peer, key) || m.isRight(sst, key) {
			continue
		}
		switch sequence := m.newest(key).sequence; {
		case left.live[sequence]:
			a.live++
		case left.obsolete[sequence]:
			a.obsolete++
		default:
			a.unchecked++
		}
	}
	return a
}

// isRight reports whether a repaired database contains the newest value of a key.
func (m *model) isRight(r repaired, key string) bool {
	value, found := r.pairs[key]
	want := m.newest(key)
	return found && !want.deleted && value == want.value
}

// count counts the pairs of a repaired database. names reports whether sst's messages name a key.
func (m *model) count(r repaired, left survival, names func(key string, newest uint64) bool) (c counts) {
	for key := range m.keys {
		value, found := r.pairs[key]
		want := m.newest(key)
		switch {
		case m.isRight(r, key):
			c.right++
		case !found:
		case !m.had(key, value):
			c.foreign++
		default:
			c.addWrong(want)
			if user, _ := hex.DecodeString(key); want.sequence < left.end && !names(string(user), want.sequence) {
				c.unnamed++
			}
		}
	}
	return c
}

// addWrong counts a pair that is old or deleted.
func (c *counts) addWrong(newest version) {
	if newest.deleted {
		c.deleted++
	} else {
		c.old++
	}
}

// had reports whether a key ever had a value.
func (m *model) had(key, value string) bool {
	return slices.ContainsFunc(m.keys[key], func(v version) bool { return !v.deleted && v.value == value })
}

// isSound reports whether the damages leave the MANIFEST intact.
func isSound(damages []dbdamage.Damage) bool {
	return !slices.ContainsFunc(damages, func(d dbdamage.Damage) bool { return strings.HasPrefix(d.File, "MANIFEST") })
}
