//go:build solaris || aix || (!unix && !windows)

package seen

import (
	"errors"
	"os"
)

// lock returns an error: on these systems two processes could use one state.
func lock(*os.File) error { return errors.ErrUnsupported }
