// Package seen tells lines that come for the first time from those that came before. What came is
// kept in a file.
package seen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A State is a filter of the lines that were seen, and the file that keeps it. The file has the
// filter as package blocked writes it, and behind that
//
//	"SstSeen1", Keys u64le, Rate float64 u64le, Lines u64le, CRC-32C of these u32le
//
// so that blocked.Read reads the filter for other programs.
type State struct {
	numbers
	path   string
	filter *blocked.Filter
	lock   *filelock.Lock
	saved  bool // the file has all lines
}

// numbers are those of a State, as they are in its file.
type numbers struct {
	Keys  uint64  // for how many lines it was made
	Rate  float64 // false-positive rate with that many lines, 0 to 1
	Lines uint64  // how many it has
}

const (
	filterMagic  = "SieveBlk" // begins what package blocked writes
	trailerMagic = "SstSeen1"
	trailerLen   = len(trailerMagic) + 3*8 + 4
)

// Bounds of a State.
const (
	MaxKeys          = 10_000_000_000
	MinRate, MaxRate = 1e-9, 0.5

	maxLines = 1 << 62
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Open returns the State that the file has, or a new one for that number of lines and that rate if
// there is no such file. No other process can open it before Close. If the file is a damaged state, the
// error is a table.ErrCorrupt. A file that is no state at all is another error.
func Open(path string, keys uint64, rate float64) (*State, error) {
	if err := output.Check(context.Background(), path); err != nil { // before any line is read
		return nil, err
	}
	lock, err := lockBeside(path)
	if err != nil {
		return nil, err
	}
	s := &State{path: path, lock: lock}
	err = s.read()
	if errors.Is(err, fs.ErrNotExist) {
		err = s.create(keys, rate)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

// moreMemory is what the user can do if there is too little memory.
const moreMemory = "give another --state with a smaller -n or a higher -p, or raise the limit"

// create makes a new State.
func (s *State) create(keys uint64, rate float64) error {
	size, err := blocked.SizeFor(keys, rate)
	if err != nil {
		return err
	}
	s.Keys, s.Rate = keys, rate
	if err := memory.Check(fmt.Sprintf("a state for %s and a rate of %g", text.Count(keys, "line"), rate), size, moreMemory); err != nil {
		return err
	}
	s.filter, err = blocked.New(keys, rate)
	return err
}

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

// Close lets other processes open the State. It does not save it.
func (s *State) Close() error { return s.lock.Close() }

// Add adds a line, and reports whether it was not seen before.
func (s *State) Add(line []byte) bool {
	if !s.filter.AddIfAbsent(line) {
		return false
	}
	s.Lines++
	s.saved = false
	return true
}

// PresentRate returns the false-positive rate of the State as it is, 0 to 1.
func (s *State) PresentRate() float64 { return s.filter.Inspect().Rate }

// Save replaces the file. The file is whole at any time.
func (s *State) Save() error {
	if err := s.checkLock(); err != nil {
		return err
	}
	err := output.WriteFile(context.Background(), s.path, nil, func(to io.Writer) error {
		if _, err := s.filter.WriteTo(to); err != nil {
			return err
		}
		_, err := to.Write(s.trailer())
		return err
	})
	s.saved = err == nil
	return err
}

func (s *State) trailer() []byte {
	b, err := binary.Append([]byte(trailerMagic), binary.LittleEndian, s.numbers)
	if err != nil {
		panic(err) // not for numbers
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// read reads the file.
func (s *State) read() error {
	f, info, err := regular.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()                                 // it was only read
	if was, err := wasState(f); err == nil && was { // of another file, Read reads little
		if err := memory.Check("the state "+text.ShellPath(s.path), memoryToRead(info.Size()), moreMemory); err != nil {
			return err
		}
	}
	if s.filter, err = blocked.Read(f); err != nil {
		return s.damage(f, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(trailerLen)+1))
	if err != nil {
		return err
	}
	if err := s.parseTrailer(b); err != nil {
		return s.damage(f, err)
	}
	s.saved = true
	return nil
}

// memoryToRead returns how many bytes blocked.Read takes for a file of that size: its memory grows 8 times as large
// whenever it is full, and what it had before is not free yet.
func memoryToRead(size int64) uint64 {
	grown := int64(64 << 10)
	for grown*8 < size {
		grown *= 8
	}
	return uint64(size + min(grown+grown/4, size))
}

// parseTrailer reads what is behind the filter.
func (s *State) parseTrailer(b []byte) error {
	if len(b) != trailerLen || string(b[:len(trailerMagic)]) != trailerMagic {
		return fmt.Errorf("no end of a state, want %d bytes that begin with %q", trailerLen, trailerMagic)
	}
	fields, stored := b[:trailerLen-4], binary.LittleEndian.Uint32(b[trailerLen-4:])
	if sum := crc32.Checksum(fields, castagnoli); sum != stored {
		return fmt.Errorf("end of a state damaged: checksum 0x%08x, want 0x%08x as stored", sum, stored)
	}
	if _, err := binary.Decode(fields[len(trailerMagic):], binary.LittleEndian, &s.numbers); err != nil {
		return err
	}
	if s.Keys < 1 || s.Keys > MaxKeys || !(s.Rate >= MinRate && s.Rate <= MaxRate) || s.Lines > maxLines {
		return fmt.Errorf("end of a state for %d lines and a rate of %g, with %d lines: want 1 to %d, %g to %g, and at most %d",
			s.Keys, s.Rate, s.Lines, uint64(MaxKeys), MinRate, MaxRate, uint64(maxLines))
	}
	return nil
}

// damage returns the error for a file whose contents are wrong, or that of reading it, such as for lack of memory.
func (s *State) damage(f *os.File, err error) error {
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*alloc.Error)) {
		return err
	}
	if was, err := wasState(f); err != nil {
		return err
	} else if !was {
		return fmt.Errorf("%s: no state of sieve seen: give another --state: it was left as it is", text.ShellPath(s.path))
	}
	return &damageError{s.path, err}
}

// wasState reports whether a file that is no sound state may have been one: it begins or ends as a
// state does, as far as it goes.
func wasState(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	head := make([]byte, min(info.Size(), int64(len(filterMagic))))
	if _, err := f.ReadAt(head, 0); err != nil {
		return false, err
	}
	begins := strings.HasPrefix(filterMagic, string(head))
	if begins || info.Size() < int64(trailerLen) {
		return begins, nil
	}
	end := make([]byte, len(trailerMagic))
	_, err = f.ReadAt(end, info.Size()-int64(trailerLen))
	return string(end) == trailerMagic, err
}

// A damageError is a table.ErrCorrupt of a State.
type damageError struct {
	path  string
	cause error
}

func (e *damageError) Error() string {
	return fmt.Sprintf("%s: no sound state: %s: restore it from a backup, or give another --state, which begins empty: it was left as it is",
		text.ShellPath(e.path), strings.TrimPrefix(e.cause.Error(), "blocked: "))
}

func (e *damageError) Is(target error) bool { return target == table.ErrCorrupt }
