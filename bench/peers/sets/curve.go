package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table/set"
)

// curveTables is the number of tables in the set that is queried with little memory. There are fewer tables if they
// would have < 1000 keys each.
const curveTables = 100

// curveLookups is the number of lookups for each MemorySize.
const curveLookups = 20_000

// A point is the CPU time of a lookup of an absent key with a MemorySize.
type point struct {
	Percent int64 // of the memory of all tables
	Lookup  float64
}

// queryByMemorySize measures lookups in the set in dir with less and less memory. Successive lookups are in random
// tables.
func queryByMemorySize(dir string) (curve []point, err error) {
	contents, err := os.ReadFile(filepath.Join(dir, absentFile))
	if err != nil {
		return nil, err
	}
	absent := sample(contents).first(curveLookups)
	all, _, err := queryWithin(dir, 0, absent)
	if err != nil {
		return nil, err
	}
	for _, percent := range []int64{100, 95, 90, 75, 50, 25, 10} {
		_, lookup, err := queryWithin(dir, all*percent/100, absent)
		if err != nil {
			return nil, fmt.Errorf("MemorySize of %d %%: %w", percent, err)
		}
		curve = append(curve, point{percent, lookup})
	}
	return curve, nil
}

// queryWithin opens the set with a MemorySize and looks up the keys twice. It returns the memory of the set
// afterwards, and the time per lookup the second time.
func queryWithin(dir string, memorySize int64, absent sample) (memory int64, lookup float64, err error) {
	s, err := openTables(filepath.Join(dir, setDir), &set.Options{OpenAll: true, MemorySize: memorySize})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	lookup, err = timeSecond(s, absent, func(has bool) bool { return !has })
	return s.MemorySize(), lookup, err
}
