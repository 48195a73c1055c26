// Package seen filters out lines that came before. It keeps the seen lines in a file.
package seen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/lockfile"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
)

// A State is a filter of the seen lines, and its file, which contains a blocked.Growing. Files of the first
// version are read too: see fixed.go.
type State struct {
	path   string
	filter *blocked.Growing
	lock   lockfile.Handle
	saved  bool // the file contains all lines
}

const (
	growingMagic = "SieveGro" // start of a Growing
	secondMagic  = 36         // offset of the first filter in a Growing, which starts with fixedMagic
)

// Bounds of a State.
const (
	MaxKeys          = 10_000_000_000
	MinRate, MaxRate = 1e-9, 0.5
)

// Open returns the State in the file or, if the file does not exist, a new one with this rate. A new State grows
// after keys lines, or after the usual number if keys is 0. No other process can open the State before Close. If
// the file is a damaged state, the error is table.ErrCorrupt. If it is not a state at all, the error is another
// one.
func Open(path string, keys uint64, rate float64) (*State, error) {
	if err := output.Check(path); err != nil { // before any line is read
		return nil, err
	}
	if err := checkIsState(path); err != nil { // before a lock file is created
		return nil, err
	}
	lock, err := lockBeside(path)
	if err != nil {
		return nil, err
	}
	s := &State{path: path, lock: lock}
	err = s.read()
	if errors.Is(err, fs.ErrNotExist) {
		s.filter, err = blocked.NewGrowing(keys, rate)
		err = s.short(err)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

// moreMemory is advice for a lack of memory.
const moreMemory = "use another --state with a smaller -n or a higher -p, or raise the limit"

// short replaces an error about a lack of memory by one with advice.
func (s *State) short(err error) error {
	if refused := (*alloc.Error)(nil); errors.As(err, &refused) {
		return cmp.Or(memory.Check("the state "+format.ShellPath(s.path), refused.Needed, moreMemory), err)
	}
	return err
}

// lockSuffix is the suffix of the lock file's name. The state itself cannot be locked, because a save replaces
// it. The lock file is not removed, because another process may have it open.
const lockSuffix = ".lock"

// lockBeside locks the lock file of a state until the lock is closed or the process ends.
func lockBeside(path string) (lockfile.Handle, error) {
	name, err := atomicfile.Resolve(path) // all links to a state share one lock
	if err != nil {
		return nil, fmt.Errorf("%s: %w", format.ShellPath(path), err)
	}
	f, err := filelock.Open(name + lockSuffix)
	if errors.Is(err, lockfile.ErrLocked) {
		return nil, fmt.Errorf("%s: another sieve seen is using this state: wait for it to exit, or use another --state", format.ShellPath(path))
	}
	return f, err
}

// checkLock returns an error if another process may have locked the state, because the lock file was removed or
// replaced.
func (s *State) checkLock() error {
	named, err := lockfile.IsNamed(s.lock)
	if err == nil && !named {
		return fmt.Errorf("%s was removed or replaced, so another sieve seen may be using %s, which was not saved: pass the lines since the last save again",
			format.ShellPath(s.lock.Path()), format.ShellPath(s.path))
	}
	return err
}

// Close releases the lock, so that other processes can open the State. It does not save the State.
func (s *State) Close() error { return s.lock.Close() }

// Add adds a line, and reports whether it is new.
func (s *State) Add(line []byte) (bool, error) {
	added, err := s.filter.AddIfAbsent(line)
	s.saved = s.saved && !added
	return added, s.short(err)
}

// Lines returns the number of lines in the State.
func (s *State) Lines() uint64 { return s.filter.Len() }

// Rate returns the false-positive rate that the State was created with, 0 to 1.
func (s *State) Rate() float64 { return s.filter.Rate() }

// PresentRate returns the current false-positive rate of the State. It is above Rate if a sieve of the first
// version added too many lines.
func (s *State) PresentRate() (rate float64) {
	for _, i := range s.filter.Inspect() {
		rate += i.Rate
	}
	return min(rate, 1)
}

// Save replaces the file atomically.
func (s *State) Save() error {
	if err := s.checkLock(); err != nil {
		return err
	}
	err := output.WriteFile(context.Background(), s.path, nil, func(to io.Writer) error {
		_, err := s.filter.WriteTo(to)
		return err
	})
	s.saved = err == nil
	return err
}

// read reads the file.
func (s *State) read() error {
	f, info, err := regular.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	if err := memory.Check("the state "+format.ShellPath(s.path), memoryToRead(info.Size()), moreMemory); err != nil {
		return err
	}
	if s.filter, err = readFilter(f); err != nil {
		return s.damage(err)
	}
	s.saved = true
	return nil
}

// readFilter reads the file of a State, of either version.
func readFilter(f *os.File) (*blocked.Growing, error) {
	begin := make([]byte, len(fixedMagic))
	if _, err := f.ReadAt(begin, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if string(begin) == fixedMagic {
		return readFixed(f)
	}
	filter, err := blocked.ReadGrowing(f)
	if err != nil {
		return nil, err
	}
	if more, err := io.ReadAll(io.LimitReader(f, 1)); err != nil || len(more) > 0 {
		return nil, cmp.Or(err, errors.New("extra bytes after the filters"))
	}
	return filter, nil
}

// memoryToRead returns the number of bytes that blocked.Read takes for a file of this size: whenever its buffer
// is full, it allocates one 8 times as large, while the old one is not free yet.
func memoryToRead(size int64) uint64 {
	grown := int64(64 << 10)
	for grown*8 < size {
		grown *= 8
	}
	return uint64(size + min(grown+grown/4, size))
}

// damage returns the error for a file with corrupt contents. It returns errors of reading, such as a lack of
// memory, unchanged.
func (s *State) damage(err error) error {
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*alloc.Error)) {
		return err
	}
	return wal.Corruptionf("%s: damaged state, left unchanged: %s: restore it from a backup, or start with another --state",
		format.ShellPath(s.path), strings.TrimPrefix(err.Error(), "blocked: "))
}

// checkIsState returns an error if the file exists, but is neither a state nor a damaged one.
func checkIsState(path string) error {
	f, _, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	was, err := wasState(f)
	if err == nil && !was {
		err = fmt.Errorf("%s: not a state of sieve seen, and left unchanged: use another --state", format.ShellPath(path))
	}
	return err
}

// wasState reports whether a file that is not a sound state may have been one: it contains one of the magic words
// of states, or is a prefix of one.
func wasState(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	head := make([]byte, min(info.Size(), secondMagic+int64(len(fixedMagic))))
	if _, err := f.ReadAt(head, 0); err != nil {
		return false, err
	}
	for _, magic := range []string{growingMagic, fixedMagic} {
		if strings.HasPrefix(magic, string(head)) || strings.Contains(string(head), magic) {
			return true, nil
		}
	}
	return endsAsFixed(f, info.Size())
}
