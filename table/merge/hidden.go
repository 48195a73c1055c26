package merge

import "fmt"

// A HiddenError is the error of a lookup if a table that may contain a newer version of the key cannot be read. It
// wraps the errors of the tables. Packages database and set return it.
type HiddenError struct {
	Err error // why the tables cannot be read

	// Value is the value of the newest version in the other tables, if Found. The key may have been deleted or
	// overwritten since.
	Value []byte
	Found bool
}

// Error returns Err's message, and says what is unknown.
func (e *HiddenError) Error() string {
	if e.Found {
		return fmt.Sprintf("%v: a version of the key was found, but a newer one or its deletion may be lost", e.Err)
	}
	return fmt.Sprintf("%v: whether the key exists is unknown", e.Err)
}

// Unwrap returns Err.
func (e *HiddenError) Unwrap() error { return e.Err }
