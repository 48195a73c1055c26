// Package long marks tests that take long: much CPU time or memory, or many processes. They run only if the
// environment variable SIEVETABLE_LONG is 1, as in CI. It is not a flag because "go test" passes a flag to the tests
// of all packages, and those that do not define it fail.
package long

import (
	"os"
	"testing"
)

// Enabled reports whether long tests run.
func Enabled() bool { return os.Getenv("SIEVETABLE_LONG") == "1" }

// Rounds returns the number of rounds of a test: many if long tests run, otherwise few. With -short, as on a second
// processor, it returns a quarter of that.
func Rounds(few, many int) int {
	rounds := few
	if Enabled() {
		rounds = many
	}
	if testing.Short() {
		rounds = (rounds + 3) / 4
	}
	return rounds
}

// Size returns the size of a test or benchmark: small with -short or the race detector, otherwise full.
func Size(small, full int) int {
	if testing.Short() || Race {
		return small
	}
	return full
}

// Test skips the test unless long tests run.
func Test(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("takes long: set SIEVETABLE_LONG=1 to run it")
	}
}

// NoRace skips a test if the race detector is on. The test would take ten times as long, and other tests cover its
// concurrency.
func NoRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("takes long with the race detector, which finds no more here than in other tests")
	}
}
