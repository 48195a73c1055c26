//go:build race

package table_test

// The race detector drops a part of what goes into pools.
const raceEnabled = true
