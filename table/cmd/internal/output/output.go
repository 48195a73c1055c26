// Package output creates the files that commands write, and keeps commands from overwriting
// their inputs.
package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// An Output is standard output, or a file that gets its name once it is complete and on disk.
type Output struct {
	ctx  context.Context
	to   io.Writer
	file *atomicfile.File // the file behind to; nil for standard output
}

// unfinished holds everything to abort if the process ends early. creating is locked while something new is not
// in it yet.
var (
	unfinished sync.Map
	creating   sync.Mutex
)

// Create creates the Output with this name. If stdout is not nil, the name "-" means stdout. An existing file is
// unchanged until Commit. After ctx ends, writes fail.
func Create(ctx context.Context, name string, stdout io.Writer) (*Output, error) {
	if name == "-" && stdout != nil {
		return &Output{ctx: ctx, to: stdout}, nil
	}
	f, err := Begin(func() (*atomicfile.File, error) { return atomicfile.Create(name) })
	if errors.Is(err, atomicfile.ErrNotReplaced) && stdout != nil {
		err = fmt.Errorf("%w (for standard output, use -o -)", err)
	}
	if err != nil {
		return nil, err
	}
	return &Output{ctx, f, f}, nil
}

// Check returns an error if a file of this name cannot be created. Call it before computing the contents takes
// long.
func Check(name string) error {
	o, err := Create(context.Background(), name, nil)
	if err != nil {
		return err
	}
	return o.Abort()
}

// Begin creates something temporary, such as a file, that is aborted if the process ends early. Call Forget once
// it is committed or aborted.
func Begin[T interface{ Abort() error }](create func() (T, error)) (T, error) {
	creating.Lock()
	defer creating.Unlock()
	f, err := create()
	if err == nil {
		unfinished.Store(f, nil)
	}
	return f, err
}

// Forget undoes the registration by Begin: f is not aborted if the process ends early.
func Forget(f any) { unfinished.Delete(f) }

func (o *Output) Write(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	return o.to.Write(p)
}

// Temporary describes the temporary file that holds the contents until Commit. Standard output has none.
func (o *Output) Temporary() (Files, error) {
	if o.file == nil {
		return nil, nil
	}
	info, err := o.file.Stat()
	return Files{info}, err
}

// Abort removes the temporary file. After Commit it does nothing, so it can be deferred.
func (o *Output) Abort() error {
	if o.file == nil {
		return nil
	}
	defer Forget(o.file) // only afterwards, since the process can end at any time
	return o.file.Abort()
}

// AbortAll aborts all Outputs and everything else from Begin, for a process that ends early. Afterwards Begin
// blocks, so that nothing else is created.
func AbortAll() {
	creating.Lock()
	unfinished.Range(func(f, _ any) bool {
		f.(interface{ Abort() error }).Abort() // errors cannot be reported any more
		return true
	})
}

// WriteFile creates the Output with this name, calls write, and commits the Output.
func WriteFile(ctx context.Context, name string, stdout io.Writer, write func(io.Writer) error) error {
	o, err := Create(ctx, name, stdout)
	if err != nil {
		return err
	}
	defer o.Abort() // does nothing after Commit
	if err := write(o); err != nil {
		return err
	}
	return Commit(o)
}

// Commit gives the files their names once all of them are on disk.
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

// Files are the files that a command writes or replaces.
type Files []fs.FileInfo

// FilesOf returns the file behind stdout, if it is a regular file, and the named files that exist. The names "-"
// and "" are skipped.
func FilesOf(stdout io.Writer, names ...string) Files {
	var files Files
	if s, ok := stdout.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := s.Stat(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && name != "-" {
			files = append(files, info)
		}
	}
	return files
}

// Has reports whether file is one of f, by identity, not by name.
func (f Files) Has(file fs.FileInfo) bool {
	return slices.ContainsFunc(f, func(info fs.FileInfo) bool { return os.SameFile(info, file) })
}

// Check returns an error if an input is one of f, because the command would overwrite it.
func (f Files) Check(path string, input fs.FileInfo) error {
	if f.Has(input) {
		return fmt.Errorf("%s: input and output are the same file: use another output", path)
	}
	return nil
}

// CheckAll checks the files with these paths, before anything is written.
func (f Files) CheckAll(paths []string) error {
	for _, path := range paths {
		info, err := files.Stat(path)
		if err != nil {
			continue // reading it returns the error
		}
		if err := f.Check(path, info); err != nil {
			return err
		}
	}
	return nil
}
