package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// drop drops a file from the page cache. Written data must have been synced.
func drop(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
