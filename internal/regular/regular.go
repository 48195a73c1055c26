// Package regular opens regular files for reading.
package regular

import (
	"errors"
	"io/fs"
	"os"
)

// Open opens a regular file, and describes it as it is then. It never waits, as opening
// a pipe can: what else has the name is refused, with an error that says what it is.
func Open(name string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(name) // as it can do something to a device to be opened
	if err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(name, info) // something else may have the name by now
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func check(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: errors.New(kind(info.Mode()) + ", want a regular file")}
}

func kind(m fs.FileMode) string {
	switch {
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
