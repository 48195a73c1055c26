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

// Test skips the test unless long tests run.
func Test(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("takes long: set SIEVETABLE_LONG=1 to run it")
	}
}

// OneGoroutine skips a test that has one goroutine and takes long with the race detector, which
// is ten times slower and has nothing to find there. It runs where the race detector is off.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if raceEnabled {
		t.Skip("has one goroutine, and takes long with the race detector")
	}
}
