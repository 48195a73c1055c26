package pebble

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A countingFS counts the reads of files at an offset.
type countingFS struct {
	vfs.FS
	reads atomic.Int64
}

// Open returns a file whose reads are counted.
func (fs *countingFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, opts...)
	if err != nil {
		return nil, err
	}
	return &countingFile{File: f, reads: &fs.reads}, nil
}

type countingFile struct {
	vfs.File
	reads *atomic.Int64
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	f.reads.Add(1)
	return f.File.ReadAt(p, off)
}
