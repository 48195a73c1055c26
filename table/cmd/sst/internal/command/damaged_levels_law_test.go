package command

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/merge"
)

// isLost reports whether a key is in a damaged part of this or a lower level. If older is true, it also counts parts
// whose versions of the key are older than another one in their level.
func (d *levels) isLost(level int, key string, older bool) bool {
	return slices.ContainsFunc(d.lost, func(p keysOfPart) bool {
		return p.level <= level && p.from <= key && key <= p.to && (older || !p.older || p.from < key)
	})
}

// hasSpare reports whether there are tables that the MANIFEST does not list.
func (d *levels) hasSpare() bool {
	return slices.ContainsFunc(d.what, func(what string) bool { return strings.HasPrefix(what, "spare") })
}

// mayLackEdits reports whether the MANIFEST may lack tables that count.
func (d *levels) mayLackEdits() bool { return d.lostLog > 0 || d.torn || d.doubt || d.outOfDate }

// isCertain reports whether an entry of a repair is certain, by the rules in sst help damage. older is as for isLost.
func (d *levels) isCertain(e source.Entry, older bool) bool {
	unsound, isLive := d.torn || d.doubt, slices.ContainsFunc(d.logs, func(l storedLog) bool { return l.path == e.Log && l.number > d.lostLog })
	switch {
	case d.doubt || d.outOfDate || d.torn && d.hasSpare():
		return false
	case e.Table == nil:
		return isLive && !(unsound && d.isLost(allLevels, string(e.Key), older))
	case e.Table.Meta == nil || d.lostLog > 0:
		return false
	case unsound:
		return !d.isLost(allLevels, string(e.Key), older)
	}
	return !d.isLost(e.Table.Meta.Level, string(e.Key), older)
}

// Whatever part of a database is damaged, scans and lookups show the newest writes that are not lost, and messages
// name exactly what is lost. The pairs that are certain for a repair are the newest, as sst help damage says.
func TestDamagedLevels(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(rounds(150, 5000), 91) {
		d := newLevels(t, rng, filepath.Join(t.TempDir(), "db"), 80)
		for range rng.IntN(8) {
			d.damage(t)
		}
		for _, o := range []source.Options{{}, {ListOptions: dbdir.ListOptions{Repair: true}}, {Lookups: true}} {
			what := fmt.Sprintf("seed %d, repair %t, damage %q", seed, o.Repair, d.what)
			d.check(t, what, o)
		}
		d.checkWithoutLogs(t, fmt.Sprintf("seed %d, damage %q", seed, d.what))
	}
}

// check opens and reads the database.
func (d *levels) check(t *testing.T, what string, o source.Options) {
	t.Helper()
	s, err := source.OpenSource(d.dir, o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer s.Close() // it was only read
	shown := d.scan(t, what, s, o.Repair)
	said := dbdamage.Hear(fmt.Sprint(errors.Join(s.Damage, s.LogDamage())))
	losses := s.Losses(source.KeyRange{})
	if wrong := d.doubt || d.noCurrent && (!o.Repair || d.outOfDate) || d.lostLog > 0; wrong != (s.Damage != nil) {
		t.Fatalf("%s: the directory is damaged: %v", what, s.Damage)
	}
	want := current(d.writes)
	for _, w := range d.writes {
		if o.Repair && d.hasSpare() {
			d.checkRepaired(t, what, w.key, shown)
		}
		if o.Repair && (d.torn || d.doubt || d.outOfDate || d.brokenLog) && d.hasSpare() { // entries of these tables can count
			continue
		}
		named := slices.ContainsFunc(losses, func(l source.Loss) bool { return contains(l.Keys, w.key) })
		if named != d.isLost(allLevels, w.key, true) {
			t.Fatalf("%s: key %s is lost: %t; losses %v", what, w.key, named, losses)
		}
		value, found := shown[w.key]
		wanted, there := want[w.key]
		right := value == wanted && found == there
		if !right && !named && !(d.lostLog > 0 || d.brokenLog && said.Names(w.key, d.newest(w.key))) {
			t.Fatalf("%s: key %s = %q, %t; want %q, %t", what, w.key, value, found, wanted, there)
		}
		e, got, err := s.Get([]byte(w.key))
		switch hidden := (*merge.HiddenError)(nil); {
		case errors.As(err, &hidden):
			if !d.isLost(allLevels, w.key, true) && !d.hasSpare() {
				t.Fatalf("%s: Get(%s) = %v, and no part with it is lost", what, w.key, err)
			}
		case err == nil && d.isLost(allLevels, w.key, false) && e.Log == "":
			t.Fatalf("%s: Get(%s) = %q of %v, though a part with it is lost", what, w.key, e.Value, e.Table)
		case err != nil || !o.Repair && (got != found || got && string(e.Value) != value):
			t.Fatalf("%s: Get(%s) = %q, %t, %v; the scan shows %q, %t", what, w.key, e.Value, got, err, value, found)
		}
	}
	if again := s.Losses(source.KeyRange{}); len(again) > len(d.lost) && !d.hasSpare() {
		t.Errorf("%s: %d parts are lost, and named are %v", what, len(d.lost), again)
	}
}

// checkWithoutLogs checks that in a repair without the logs, no pair is certain if a log has a newer write.
func (d *levels) checkWithoutLogs(t *testing.T, what string) {
	t.Helper()
	s, err := source.OpenSource(d.dir, source.Options{ListOptions: dbdir.ListOptions{Repair: true, NoLogs: true}})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer s.Close() // it was only read
	want, lost := current(d.writes), s.NewLossCursor()
	for e, err := range s.Scan(source.ScanOptions{}) {
		if value, there := want[string(e.Key)]; err != nil || lost.IsCertain(e) && (!there || value != string(e.Value)) {
			t.Errorf("%s: without logs key %s = %q is certain, %v; want %q, %t", what, e.Key, e.Value, err, value, there)
		}
	}
}

// checkRepaired checks that a repair shows the newest readable write to a key. Tables that the MANIFEST does not list
// count only where something is lost, or if the MANIFEST may have lost edits.
func (d *levels) checkRepaired(t *testing.T, what, key string, shown map[string]string) {
	t.Helper()
	isLost := d.isLost(allLevels, key, false)
	if d.brokenLog || isLost != d.isLost(allLevels, key, true) {
		return
	}
	all := slices.Clone(d.replaced)
	for _, s := range d.tables {
		all = append(all, slices.Concat(s.writes...)...)
	}
	for _, l := range d.logs {
		all = append(all, l.writes...)
	}
	for _, w := range d.spare {
		if d.mayLackEdits() || isLost && w.sequence <= d.last { // others were never committed
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b rawEntry) int {
		return -rawEntry{sequence: a.sequence, kind: a.kind}.compare(rawEntry{sequence: b.sequence, kind: b.kind})
	})
	want, there := current(all)[key]
	if value, found := shown[key]; value != want || found != there {
		t.Errorf("%s: key %s = %q, %t; of what can be read the newest is %q, %t", what, key, value, found, want, there)
	}
}

// scan returns the pairs of a scan. It checks that they are in order and unique, and which of them are certain.
func (d *levels) scan(t *testing.T, what string, s *source.Source, repairs bool) map[string]string {
	t.Helper()
	shown, want, last, lost := map[string]string{}, current(d.writes), "", s.NewLossCursor()
	for e, err := range s.Scan(source.ScanOptions{}) {
		key := string(e.Key)
		if err != nil || key <= last {
			t.Fatalf("%s: the scan has key %q behind %q: %v", what, key, last, err)
		}
		shown[key], last = string(e.Value), key
		if !repairs {
			continue
		}
		isSound := !d.isLost(allLevels, key, true) && !d.brokenLog && d.lostLog == 0 && e.Sequence <= uint64(len(d.writes))
		isLeft := d.newest(key) == 0 && d.mayLackEdits() // perhaps an edit lists its table
		if isSound && !isLeft && e.Table != nil && e.Table.Meta == nil {
			t.Errorf("%s: key %s is of %s, though nothing of it is lost", what, key, e.Table.Path)
		}
		isCertain := lost.IsCertain(e)
		if value, there := want[key]; isCertain && (!there || value != shown[key]) {
			t.Errorf("%s: key %s = %q is certain, want %q, %t", what, key, e.Value, value, there)
		}
		if isCertain && !d.isCertain(e, false) || !isCertain && !d.brokenLog && d.isCertain(e, true) {
			t.Errorf("%s: key %s = %q of %+v and log %q is certain: %t, want %t; %v", what, key, e.Value, e.Table, e.Log, isCertain, !isCertain, d.lost)
		}
	}
	return shown
}

// contains reports whether a range contains a key.
func contains(r source.KeyRange, key string) bool {
	from, to := strings.Compare(key, string(r.From)), strings.Compare(key, string(r.To))
	return (r.From == nil || from > 0 || from == 0 && !r.AfterFrom) && (r.To == nil || to < 0 || to == 0 && !r.BeforeTo)
}

// newest returns the sequence number of the newest write to a key.
func (d *levels) newest(key string) (sequence uint64) {
	for _, w := range d.writes {
		if w.key == key {
			sequence = w.sequence
		}
	}
	return sequence
}

// With any options, Scan returns the versions within the bounds, forward or backward, without those that the MANIFEST
// does not count. Lookups agree.
func TestScanOptionsAgree(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(rounds(100, 3000), 92) {
		d := newLevels(t, rng, filepath.Join(t.TempDir(), "db"), 80)
		if rng.IntN(2) == 0 {
			d.countFewer(t)
		}
		s := openSource(t, d.dir, source.Options{})
		for range 8 {
			o := d.options()
			if diff := cmp.Diff(d.expect(o), scanWith(t, s, o)); diff != "" {
				t.Errorf("seed %d, %+v (-want +got):\n%s", seed, o, diff)
			}
		}
		pairs := current(slices.DeleteFunc(slices.Clone(d.writes), func(w rawEntry) bool { return w.sequence > d.counted }))
		for _, w := range d.writes {
			checkGet(t, fmt.Sprint("seed ", seed), s, pairs, w.key)
		}
		s.Close()
	}
}

// expect returns the entries that a scan with the options must return.
func (d *levels) expect(o source.ScanOptions) (all []string) {
	counts := func(w rawEntry) bool { return o.Versions || w.sequence <= d.counted }
	sorted := slices.DeleteFunc(slices.SortedFunc(slices.Values(d.writes), rawEntry.compare), func(w rawEntry) bool { return !counts(w) })
	for i, w := range sorted {
		shadowed := i > 0 && sorted[i-1].key == w.key || w.kind == 0 && !o.Tombstones
		below := o.From != nil && w.key < string(o.From)
		if below || o.To != nil && w.key >= string(o.To) || shadowed && !o.Versions {
			continue
		}
		all = append(all, fmt.Sprint(w))
	}
	if o.Reverse {
		slices.Reverse(all)
	}
	return all
}

// scanWith returns the entries of a scan.
func scanWith(t *testing.T, s *source.Source, o source.ScanOptions) (all []string) {
	t.Helper()
	for e, err := range s.Scan(o) {
		noError(t, err)
		all = append(all, fmt.Sprint(rawEntry{string(bytes.Clone(e.Key)), e.Sequence, e.Kind, string(e.Value)}))
	}
	return all
}
