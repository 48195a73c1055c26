package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// drop drops a file from the page cache. What was written to it must be on the disk.
func drop(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
