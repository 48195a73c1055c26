package set

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	"github.com/sievetable/sievetable/internal/regular"
)

// OpenFS opens the set in the directory dir of fsys, as OpenDir opens one of the operating system.
// "." is the root of fsys. If a file is missing, the error is fs.ErrNotExist. Files must be
// regular, and have a method ReadAt that is safe for concurrent use, as those of os.DirFS,
// os.Root.FS and embed.FS have. Mapped in Options.Reader changes nothing: files are read.
//
// OpenFS opens a file at its first read and keeps it open, up to MaxOpenFiles of [Options]. A file
// that was closed because of the bound is compared when it is opened again: another size or time of
// modification is [ErrReplaced], and so is another file of the operating system. After Close, the
// files are closed when the lookups and Iters that use them have ended.
//
// For [Set.Swap], open the new manifest in fsys and read it by [ReadManifest].
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
	return Open(ctx, m, newFiles(most, open), o)
}
