package dbdir

import (
	"os"
	"path/filepath"
	"strings"
)

// RealName returns the path of a file, which may be missing, in its real directory.
func RealName(path string) string {
	dir, name := filepath.Split(strings.TrimRightFunc(path, func(c rune) bool { return c < 0x80 && os.IsPathSeparator(uint8(c)) }))
	if name == "." || name == ".." {
		return realDir(path)
	}
	path = filepath.Join(realDir(dir), name)
	if real, err := filepath.EvalSymlinks(path); err == nil { // the file is there
		return real
	}
	return realTarget(path, maxLinks)
}

// realDir returns the path of a directory without links. It is not cleaned before: what is above a link is above the
// directory that it leads to.
func realDir(dir string) string {
	if !filepath.IsAbs(dir) {
		if wd, err := os.Getwd(); err == nil {
			dir = wd + string(filepath.Separator) + dir
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// maxLinks is how many links without a file at their end are followed, as by systems.
const maxLinks = 40

// realTarget returns where a file is made by writing to path, in a real directory: where a link leads that has no
// file at its end.
func realTarget(path string, links int) string {
	target, err := os.Readlink(path)
	if err != nil || links == 0 {
		return path
	}
	if !filepath.IsAbs(target) {
		target = filepath.Dir(path) + string(filepath.Separator) + target
	}
	dir, name := filepath.Split(target)
	return realTarget(filepath.Join(realDir(dir), name), links-1)
}
