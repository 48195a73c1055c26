package regular

import (
	"errors"
	"io"
	"io/fs"
)

// A File is an open file that can be read at any offset.
type File interface {
	fs.File
	io.ReaderAt
}

// OpenFS opens a regular file of fsys for reading, and returns its FileInfo. A file without a method
// ReadAt, such as one of a zip archive, is an error. OpenFS looks what the file is before it opens it,
// since opening a pipe can block.
func OpenFS(fsys fs.FS, name string) (File, fs.FileInfo, error) {
	info, err := fs.Stat(fsys, name)
	if err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, nil, err
	}
	opened, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err = opened.Stat()
	f, ok := opened.(File)
	if err == nil && !ok {
		err = &fs.PathError{Op: "open", Path: name, Err: errNoReadAt}
	}
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	return f, info, nil
}

var errNoReadAt = errors.New("the file has no method ReadAt: read it into memory, or copy it to a directory")
