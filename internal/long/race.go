//go:build race

package long

const raceEnabled = true
