package seen

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// lockSuffix ends the name of the lock file. The state itself cannot be locked, because a save replaces
// it. The lock file stays, because another process may have it open.
const lockSuffix = ".lock"

// lockBeside locks the lock file of a state until it is closed or the process ends.
func lockBeside(path string) (*filelock.Lock, error) {
	name, err := atomicfile.Resolve(path) // all links to a state have one lock
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text.ShellPath(path), err)
	}
	f, err := filelock.Open(name + lockSuffix)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: another sieve seen uses this state: wait for its end, or give another --state", text.ShellPath(path))
	}
	return f, err
}

// checkLock returns an error if another process can have locked the state: another file has the name of the
// lock, or none.
func (s *State) checkLock() error {
	named, err := s.lock.IsNamed()
	if err == nil && !named {
		return fmt.Errorf("%s was removed or replaced, so that another sieve seen can use %s: not saved: give the lines since the last save again",
			text.ShellPath(s.lock.Path()), text.ShellPath(s.path))
	}
	return err
}
