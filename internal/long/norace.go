//go:build !race

package long

const raceEnabled = false
