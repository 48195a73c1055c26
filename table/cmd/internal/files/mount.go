package files

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/sievetable/sievetable/internal/regular"
)

// A Mounted directory is one that a URL names. Its errors are as those of package os, with the paths of its files.
type Mounted interface {
	Names() ([]string, error)

	// Stat describes a file, or the directory itself if name is "".
	Stat(name string) (fs.FileInfo, error)

	Open(name string) (regular.File, fs.FileInfo, error)
}

// A Fetcher is a Mounted directory whose files are read by requests over a network.
type Fetcher interface {
	Mounted

	// Expect says how a file will be read.
	Expect(name string, r Reads)

	// Fetch reads the ends of files, several at a time. Errors come again when a file is read.
	Fetch(names []string)
}

// Reads say how a file will be read.
type Reads struct {
	Tail    int64 // this many bytes at its end are read together
	Through bool  // long reads are followed by others behind them
}

// An Opener opens the directory that a URL names. dir is its path, which the paths of its files begin with. file is
// the name of a file if the URL names one of the directory.
type Opener func(url string) (dir, file string, d Mounted, err error)

// mounts are the directories that URLs have named, by their paths.
var mounts = struct {
	sync.Mutex
	openers map[string]Opener
	dirs    map[string]mount
}{openers: map[string]Opener{}, dirs: map[string]mount{}}

type mount struct {
	Mounted
	query string // of the URL
}

// Register registers what opens the URLs of a scheme.
func Register(scheme string, open Opener) {
	mounts.Lock()
	defer mounts.Unlock()
	mounts.openers[scheme] = open
}

// Mount returns the path of what an argument names: the argument itself or, for a URL, the path of the directory that
// it names, or of a file there. ok is false for a URL whose scheme nobody has registered.
func Mount(arg string) (path string, ok bool, err error) {
	if !IsURL(arg) {
		return arg, true, nil
	}
	mounts.Lock()
	defer mounts.Unlock()
	scheme, rest, _ := strings.Cut(arg, "://")
	open := mounts.openers[scheme]
	if open == nil {
		return "", false, nil
	}
	dir, file, d, err := open(arg)
	if err != nil {
		return "", true, err
	}
	_, query, _ := strings.Cut(rest, "?")
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

// Fetch reads the ends of files of one directory before they are read one by one. It does nothing for local files.
func Fetch(dir string, names []string) {
	d, _, _ := find("open", dir)
	if f, ok := d.(Fetcher); ok {
		f.Fetch(names)
	}
}
