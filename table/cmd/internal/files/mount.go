package files

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/sievetable/sievetable/internal/regular"
)

// A Mounted is a directory named by a URL. Its errors are like those of package os, with the paths of its files.
type Mounted interface {
	Names() ([]string, error)

	// Stat describes a file, or the directory itself if name is "".
	Stat(name string) (fs.FileInfo, error)

	Open(name string) (regular.File, fs.FileInfo, error)
}

// A Fetcher is a Mounted directory whose files are read over a network.
type Fetcher interface {
	Mounted

	// Expect says how a file will be read.
	Expect(name string, r Reads)

	// Fetch reads the ends of files, several at a time. Errors are returned when a file is read.
	Fetch(names []string)
}

// Reads describes how a file will be read.
type Reads struct {
	Tail    int64 // number of bytes at the end that are read together
	Through bool  // long reads are sequential
}

// OpenURL opens the directory named by a URL. dir is its path, with which the paths of its files begin. If the URL
// names a file in the directory, file is its name. A program that reads URLs sets OpenURL when it is initialized.
var OpenURL func(url string) (dir, file string, d Mounted, err error)

// mounts holds the mounted directories by path.
var mounts = struct {
	sync.Mutex
	dirs map[string]mount
}{dirs: map[string]mount{}}

type mount struct {
	Mounted
	query string // of the URL
}

// Mount returns the path for an argument: the argument itself or, for a URL, the path of the directory or file
// that it names. ok is false for a URL if the program reads none.
func Mount(arg string) (path string, ok bool, err error) {
	if !IsURL(arg) {
		return arg, true, nil
	}
	if OpenURL == nil {
		return "", false, nil
	}
	mounts.Lock()
	defer mounts.Unlock()
	dir, file, d, err := OpenURL(arg)
	if err != nil {
		return "", true, err
	}
	_, query, _ := strings.Cut(arg, "?")
	switch there, mounted := mounts.dirs[dir]; {
	case mounted && there.query != query:
		return "", true, fmt.Errorf("%s has two queries, %s and %s: use one of them", dir, there.query, query)
	case !mounted:
		mounts.dirs[dir] = mount{d, query}
	}
	if file != "" {
		return Join(dir, file), true, nil
	}
	return dir, true, nil
}

// find returns the directory of a path and the name of the file there, or "" for the directory itself.
func find(op, path string) (d Mounted, name string, err error) {
	mounts.Lock()
	defer mounts.Unlock()
	if d, ok := mounts.dirs[path]; ok {
		return d.Mounted, "", nil
	}
	dir := Dir(path)
	if d, ok := mounts.dirs[dir]; ok {
		return d.Mounted, path[len(dir)+1:], nil
	}
	return nil, "", &fs.PathError{Op: op, Path: path, Err: syscall.ENOENT}
}

// Expect says how a file will be read. It does nothing for local files.
func Expect(path string, r Reads) {
	d, name, _ := find("open", path)
	if f, ok := d.(Fetcher); ok {
		f.Expect(name, r)
	}
}

// Fetch reads the ends of files in dir, several at a time, before they are read one by one. It does nothing for
// local files.
func Fetch(dir string, names []string) {
	d, _, _ := find("open", dir)
	if f, ok := d.(Fetcher); ok {
		f.Fetch(names)
	}
}
