package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// eachFile calls do for each file in a directory and those below it.
func eachFile(dir string, do func(name string, d fs.DirEntry) error) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return do(name, d)
	})
}

// sizeOf returns the size of all files in a directory.
func sizeOf(dir string) (size int64, err error) {
	err = eachFile(dir, func(_ string, d fs.DirEntry) error {
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// dropAll drops the files of a directory from the page cache.
func dropAll(dir string) error {
	return eachFile(dir, func(name string, _ fs.DirEntry) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), drop(f), f.Close())
	})
}
