// Package long marks the tests that take long: much CPU time or memory, or many
// processes. They run where the environment sets SIEVETABLE_LONG=1, as CI does. It is
// an environment variable because "go test" gives a flag to the tests of all packages,
// and those that do not define it fail.
package long

import (
	"os"
	"testing"
)

// Enabled says whether long tests run.
func Enabled() bool { return os.Getenv("SIEVETABLE_LONG") == "1" }

// Rounds returns how often a test does the same: more often if long tests run.
func Rounds(few, many int) int {
	if Enabled() {
		return many
	}
	return few
}

// Test skips the test unless long tests run.
func Test(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("takes long: set SIEVETABLE_LONG=1 to run it")
	}
}

// NoRace skips a test if the race detector is on. With it the test takes ten times as long, and
// what goroutines it has run in other tests too.
func NoRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("takes long with the race detector, which finds no more here than in other tests")
	}
}
