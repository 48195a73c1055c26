// Package errtest ends tests on errors, and checks for panics and for files that are left.
package errtest

import (
	"os"
	"testing"
)

// NoError ends the test if there is an error.
func NoError(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// PanicOf returns the value that f panics with, or nil.
func PanicOf(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}

// Names returns the names in a directory, in order. An error ends the test.
func Names(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Empty checks that a directory is empty.
func Empty(t testing.TB, dir string) {
	t.Helper()
	if names := Names(t, dir); len(names) > 0 {
		t.Errorf("%q are left in %s", names, dir)
	}
}
