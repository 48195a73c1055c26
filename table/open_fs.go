package table

import (
	"errors"
	"io/fs"
)

// OpenFS opens the file name of fsys, as Open opens a file of the operating system. Close closes
// it. The file must be a regular one, and have a method ReadAt that is safe for concurrent use,
// as the files of os.DirFS, os.Root.FS and embed.FS have. Of another file read the contents, and
// give them to NewReader. The file is read also with ReaderOptions.Mapped.
func OpenFS(fsys fs.FS, name string, o *ReaderOptions) (*Reader, error) {
	info, err := fs.Stat(fsys, name) // before opening it, which can block
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, wrap(err)
	}
	opened, err := fsys.Open(name)
	if err != nil {
		return nil, wrap(err)
	}
	info, err = opened.Stat()
	f, ok := opened.(file)
	if err == nil && !ok {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("the file has no method ReadAt: read it, and give its contents to NewReader")}
	}
	if err != nil {
		return nil, wrap(errors.Join(err, opened.Close()))
	}
	return openFile(name, f, info, o)
}
