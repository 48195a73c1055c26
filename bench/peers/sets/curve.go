package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table/set"
)

// curveTables is how many tables the set has that is asked with little memory. It has fewer if they
// would have < 1000 keys.
const curveTables = 100

// curveLookups is how many lookups each MemorySize is measured by.
const curveLookups = 20_000

// A point is the CPU time of a lookup of an absent key with a MemorySize.
type point struct {
	Percent int64 // of the memory of all tables
	Lookup  float64
}

// askByMemorySize asks the set in dir with less and less memory. The tables that are asked for are random.
func askByMemorySize(dir string) (curve []point, err error) {
	contents, err := os.ReadFile(filepath.Join(dir, absentFile))
	if err != nil {
		return nil, err
	}
	absent := sample(contents).first(curveLookups)
	all, _, err := askWithin(dir, 0, absent)
	if err != nil {
		return nil, err
	}
	for _, percent := range []int64{100, 95, 90, 75, 50, 25, 10} {
		_, lookup, err := askWithin(dir, all*percent/100, absent)
		if err != nil {
			return nil, fmt.Errorf("MemorySize of %d %%: %w", percent, err)
		}
		curve = append(curve, point{percent, lookup})
	}
	return curve, nil
}

// askWithin opens the set with a MemorySize and asks it twice. It returns the memory that the set then
// takes, and what a lookup took the second time.
func askWithin(dir string, memorySize int64, absent sample) (memory int64, lookup float64, err error) {
	s, err := openTables(filepath.Join(dir, setDir), &set.Options{OpenAll: true, MemorySize: memorySize})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	lookup, err = timeSecond(s, absent, func(has bool) bool { return !has })
	return s.MemorySize(), lookup, err
}
