// Package errtest ends tests on errors, and returns panics to them.
package errtest

import "testing"

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
