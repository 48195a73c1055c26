// Package errtest ends tests at errors, and returns panics to them.
package errtest

import "testing"

// NoError ends the test if there is an error.
func NoError(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// PanicOf returns what f panics with, or nil.
func PanicOf(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}
