//go:build race

package main

// raceEnabled: the race detector makes everything ten times slower.
const raceEnabled = true
