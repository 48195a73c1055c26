package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// An asked is what opening a set and asking it took.
type asked struct {
	Open            float64 // CPU, ms
	Read            int64   // bytes, to open it
	Opened, After   memory  // when it is open, and after all lookups
	Absent, Present float64 // CPU of a lookup, ns
	NotDenied       float64 // lookups of absent keys that filters do not deny, of 1; or -1: it is not known
}

// ask opens the set in one of its ways, and asks it for all keys of the samples twice. The second
// time counts.
func (e engine) ask(way, dir string) (a asked, err error) {
	absent, err := os.ReadFile(filepath.Join(dir, absentFile))
	present, err2 := os.ReadFile(filepath.Join(dir, presentFile))
	before, err3 := memoryNow()
	if err := errors.Join(err, err2, err3, dropAll(filepath.Join(dir, setDir))); err != nil {
		return a, err
	}
	db, err := e.openTimed(way, dir, &a)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	opened, err := memoryNow()
	if err != nil {
		return a, err
	}
	a.Opened = opened.since(before)
	if err := a.ask(db, absent, present, e.name == filterOnly); err != nil {
		return a, err
	}
	after, err := memoryNow()
	a.After = after.since(before)
	runtime.KeepAlive([]sample{absent, present}) // what is in use before is so afterwards
	return a, err
}

// openTimed opens the set, and says in a what that took.
func (e engine) openTimed(name, dir string, a *asked) (database, error) {
	i := slices.IndexFunc(e.ways, func(w way) bool { return w.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: no way %q to open it", e.name, name)
	}
	sorted, err := openKeys(filepath.Join(dir, sortedFile))
	if err != nil {
		return nil, err
	}
	defer sorted.Close()
	start := spent()
	db, err := e.ways[i].open(filepath.Join(dir, setDir), sorted.n)
	end := spent()
	a.Open, a.Read = (end.cpu-start.cpu).Seconds()*1e3, end.read-start.read
	return db, err
}

// ask asks for all keys. Filters alone may say of an absent key that it may be there.
func (a *asked) ask(db database, absent, present sample, filtersOnly bool) (err error) {
	a.NotDenied = -1
	if d, ok := db.(denier); ok {
		n, err := d.NotDenied(absent)
		if err != nil {
			return err
		}
		a.NotDenied = float64(n) / float64(absent.len())
	}
	a.Absent, err = timeSecond(db, absent, func(has bool) bool { return !has || filtersOnly })
	if err == nil {
		a.Present, err = timeSecond(db, present, func(has bool) bool { return has })
	}
	return err
}

// timeSecond asks for all keys twice, and returns the time of the second time.
func timeSecond(db database, keys sample, right func(has bool) bool) (float64, error) {
	if _, err := timeLookups(db, keys, right); err != nil {
		return 0, err
	}
	return timeLookups(db, keys, right)
}

// timeLookups asks for all keys, and returns the CPU time of a lookup in nanoseconds. An answer that is not
// right is an error.
func timeLookups(db database, keys sample, right func(has bool) bool) (float64, error) {
	start := spent()
	for i := range keys.len() {
		has, err := db.Has(keys.at(i))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", keys.at(i), err)
		}
		if !right(has) {
			return 0, fmt.Errorf("%s: the engine says %t, which is wrong", keys.at(i), has)
		}
	}
	return float64((spent().cpu - start.cpu).Nanoseconds()) / float64(keys.len()), nil
}
