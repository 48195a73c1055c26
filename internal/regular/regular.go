// Package regular opens regular files for reading.
package regular

import (
	"errors"
	"io/fs"
	"os"
)

// Open opens a regular file for reading, and returns its FileInfo. For any other file it
// returns an error that says what it is. It never blocks, as opening a pipe can.
func Open(name string) (*os.File, fs.FileInfo, error) {
	return open(name, os.Stat, os.OpenFile)
}

// OpenIn is Open of a file in root. A symbolic link is followed only within root.
func OpenIn(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return open(name, root.Stat, root.OpenFile)
}

func open(name string, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, fs.FileInfo, error) {
	f, err := openFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		if info, statErr := stat(name); statErr == nil && !info.Mode().IsRegular() { // such as a socket
			err = check(name, info)
		}
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// check returns an error if info is not that of a regular file.
func check(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: errors.New(Kind(info.Mode()) + ", want a regular file")}
}

// Kind names the kind of a file that is not regular, for errors.
func Kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeDir != 0:
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
