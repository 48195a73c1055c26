package set

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	"github.com/sievetable/sievetable/internal/regular"
)

// OpenFS opens the set in the directory dir of fsys, as OpenDir opens one of the operating system.
// "." is the root of fsys. All files must be regular ones, and have a method ReadAt that is safe for
// concurrent use, as the files of os.DirFS, os.Root.FS and embed.FS have. Files are read also with
// Mapped in Options.Reader. A file that is missing is an error that is fs.ErrNotExist.
//
// Each file is opened at its first read, and kept open up to MaxOpenFiles of [Options]. One that was
// closed and is opened again must have its size and its time of modification, and its number if it is a
// file of the operating system: otherwise the error is [ErrReplaced]. After Close, the files are closed
// when the lookups and Iters that use them have ended.
//
// For [Set.Swap], open the new manifest by fsys, and read it by [ReadManifest].
func OpenFS(ctx context.Context, fsys fs.FS, dir string, o *Options) (*Set, error) {
	if !fs.ValidPath(dir) {
		return nil, fmt.Errorf("set: %w", &fs.PathError{Op: "open", Path: dir, Err: fs.ErrInvalid})
	}
	most, o, err := o.forFiles()
	if err != nil {
		return nil, err
	}
	open := func(name string) (regular.File, fs.FileInfo, error) {
		return regular.OpenFS(fsys, path.Join(dir, name))
	}
	f, _, err := open(ManifestName)
	if err != nil {
		return nil, fmt.Errorf("set: %w", err)
	}
	m, err := readAndClose(f)
	if err != nil {
		return nil, err
	}
	return Open(ctx, m, newFileCache(most, open), o)
}
