// Package usage has the error of a command that was called in a wrong way.
package usage

import "fmt"

// An Error is a mistake in the arguments or flags of a command. sst prints it together with
// how the command is used.
type Error struct{ cause error }

// Errorf returns an Error with a message as fmt.Errorf formats it. The message says what was
// wrong and what is expected.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

func (e Error) Error() string { return e.cause.Error() }
func (e Error) Unwrap() error { return e.cause }
