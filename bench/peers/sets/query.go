package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// costs are the costs of opening and querying a set.
type costs struct {
	Open            float64 // CPU, ms
	Read            int64   // bytes read from the disk to open it
	Opened, After   memory  // when the set is open, and after all lookups
	Absent, Present float64 // CPU time per lookup, ns
	FalsePositives  float64 // share of the absent keys; -1 if unknown
}

// query opens the set in the given way, and looks up all keys of the samples twice. The second time counts.
func (e engine) query(way, dir string) (c costs, err error) {
	absent, err := os.ReadFile(filepath.Join(dir, absentFile))
	present, err2 := os.ReadFile(filepath.Join(dir, presentFile))
	before, err3 := memoryNow()
	if err := errors.Join(err, err2, err3, dropAll(filepath.Join(dir, setDir))); err != nil {
		return c, err
	}
	db, err := e.openTimed(way, dir, &c)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	opened, err := memoryNow()
	if err != nil {
		return c, err
	}
	c.Opened = opened.since(before)
	if err := c.query(db, absent, present, e.name == filterOnly); err != nil {
		return c, err
	}
	after, err := memoryNow()
	c.After = after.since(before)
	runtime.KeepAlive([]sample{absent, present}) // keeps in use what was in use before
	return c, err
}

// openTimed opens the set, and sets c.Open and c.Read.
func (e engine) openTimed(name, dir string, c *costs) (database, error) {
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
	c.Open, c.Read = (end.cpu-start.cpu).Seconds()*1e3, end.read-start.read
	return db, err
}

// query looks up all keys. A set of only filters may report an absent key as present.
func (c *costs) query(db database, absent, present sample, filtersOnly bool) (err error) {
	c.FalsePositives = -1
	if d, ok := db.(filtered); ok {
		n, err := d.FalsePositives(absent)
		if err != nil {
			return err
		}
		c.FalsePositives = float64(n) / float64(absent.len())
	}
	c.Absent, err = timeSecond(db, absent, func(has bool) bool { return !has || filtersOnly })
	if err == nil {
		c.Present, err = timeSecond(db, present, func(has bool) bool { return has })
	}
	return err
}

// timeSecond looks up all keys twice, and returns the time per lookup the second time.
func timeSecond(db database, keys sample, right func(has bool) bool) (float64, error) {
	if _, err := timeLookups(db, keys, right); err != nil {
		return 0, err
	}
	return timeLookups(db, keys, right)
}

// timeLookups looks up all keys, and returns the CPU time per lookup in nanoseconds. A wrong result is an error.
func timeLookups(db database, keys sample, right func(has bool) bool) (float64, error) {
	start := spent()
	for i := range keys.len() {
		has, err := db.Has(keys.at(i))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", keys.at(i), err)
		}
		if !right(has) {
			return 0, fmt.Errorf("%s: the lookup returns %t, which is wrong", keys.at(i), has)
		}
	}
	return float64((spent().cpu - start.cpu).Nanoseconds()) / float64(keys.len()), nil
}
