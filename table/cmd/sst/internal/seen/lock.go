package seen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// lockSuffix ends the name of the lock file. The state itself cannot be locked, because a save replaces
// it. The lock file stays, because another process may have it open.
const lockSuffix = ".lock"

// errLocked means that another process has the lock.
var errLocked = errors.New("locked")

// lockBeside locks the lock file of a state until it is closed or the process ends.
func lockBeside(path string) (*os.File, error) {
	name := path
	if real, err := filepath.EvalSymlinks(path); err == nil { // all links to a state have one lock
		name = real
	}
	f, err := os.OpenFile(name+lockSuffix, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	err = lock(f)
	if errors.Is(err, errLocked) {
		err = fmt.Errorf("%s: another sst seen uses this state: wait for its end, or give another --state", text.ShellPath(path))
	} else if err != nil {
		err = fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
