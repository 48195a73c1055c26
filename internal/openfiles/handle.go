package openfiles

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
)

// A handle is a file of its own, also if others have the same name. It is open while it is read.
type handle struct {
	*io.SectionReader
	files *Files
	name  string
	info  fs.FileInfo
}

// Open opens a file of its own: the one that has the name now, whatever is read by that name.
func (c *Files) Open(name string) (fs.File, error) {
	h := &handle{files: c, name: fmt.Sprintf("%d\x00%s", c.handles.Add(1), name)}
	f, err := c.Acquire(context.Background(), h.name)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	h.info, h.SectionReader = f.info, io.NewSectionReader(reader{c, h.name}, 0, f.info.Size())
	return h, nil
}

// path returns the name of the file that Files know by a name, which is that of a handle too.
func path(name string) string {
	if _, path, isHandle := strings.Cut(name, "\x00"); isHandle {
		return path
	}
	return name
}

// A reader reads a file of Files.
type reader struct {
	files *Files
	name  string
}

func (r reader) ReadAt(p []byte, off int64) (int, error) {
	return r.files.ReadAt(context.Background(), r.name, p, off)
}

// Stat returns what the file was when it was opened.
func (h *handle) Stat() (fs.FileInfo, error) { return h.info, nil }

// Close closes the file.
func (h *handle) Close() error {
	h.files.Forget(h.name)
	return nil
}

var _ regular.File = (*handle)(nil)
