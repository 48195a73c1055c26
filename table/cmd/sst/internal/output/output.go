// Package output has what commands write to, and keeps them from reading it.
package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/sievetable/sievetable/internal/atomicfile"
)

// An Output is standard output, or a file that has its name when all of it is on disk.
type Output struct {
	ctx  context.Context
	to   io.Writer
	file *atomicfile.File // to, or nil for standard output
}

// unfinished has the files that are to be removed if the process ends.
var unfinished sync.Map

// Create returns the Output of a name: "-" is stdout, if that is not nil. What has the name stays there
// until Commit. When ctx ends, nothing more is written.
func Create(ctx context.Context, name string, stdout io.Writer) (*Output, error) {
	if name == "-" && stdout != nil {
		return &Output{ctx: ctx, to: stdout}, nil
	}
	f, err := atomicfile.Create(name)
	if errors.Is(err, atomicfile.ErrNotReplaced) && stdout != nil {
		err = fmt.Errorf("%w; -o - is standard output", err)
	}
	if err != nil {
		return nil, err
	}
	unfinished.Store(f, nil)
	return &Output{ctx, f, f}, nil
}

func (o *Output) Write(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	return o.to.Write(p)
}

// Temporary describes the file that is written until Commit. It is none for standard
// output.
func (o *Output) Temporary() (Files, error) {
	if o.file == nil {
		return nil, nil
	}
	info, err := o.file.Stat()
	return Files{info}, err
}

// Abort removes what was written, as far as it is in a file. After Commit it does
// nothing, so that it can be deferred.
func (o *Output) Abort() error {
	if o.file == nil {
		return nil
	}
	unfinished.Delete(o.file)
	return o.file.Abort()
}

// AbortAll is Abort of all Outputs, for a process that ends before they are done with.
func AbortAll() {
	unfinished.Range(func(f, _ any) bool {
		f.(*atomicfile.File).Abort() // as far as it can
		return true
	})
}

// Commit gives the files their names, none before all are on disk.
func Commit(outputs ...*Output) error {
	var files []*atomicfile.File
	for _, o := range outputs {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		if o.file != nil {
			files = append(files, o.file)
		}
	}
	return atomicfile.Commit(files...)
}

// Files are what a command writes to, or replaces in the end.
type Files []fs.FileInfo

// FilesOf returns the files that standard output is and that have the name, which may be
// "-" or "" for none.
func FilesOf(stdout io.Writer, name string) Files {
	var files Files
	if s, ok := stdout.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := s.Stat(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	if name != "-" && name != "" {
		if info, err := os.Stat(name); err == nil {
			files = append(files, info)
		}
	}
	return files
}

// Has reports whether a file is one of them, whatever its name.
func (f Files) Has(file fs.FileInfo) bool {
	for _, info := range f {
		if os.SameFile(info, file) {
			return true
		}
	}
	return false
}

// Check returns an error if an input is one of them: it would be lost.
func (f Files) Check(path string, input fs.FileInfo) error {
	if f.Has(input) {
		return fmt.Errorf("%s: input and output are the same file: want another output", path)
	}
	return nil
}

// CheckAll is Check of the files that have the names, before anything is written.
func (f Files) CheckAll(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue // reading it tells
		}
		if err := f.Check(path, info); err != nil {
			return err
		}
	}
	return nil
}
