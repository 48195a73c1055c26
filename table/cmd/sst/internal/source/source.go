package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Source is a table, or the tables of a directory, which are searched as one.
type Source struct {
	Path     string
	Dir      bool
	Internal bool
	Files    []*File  // the newest first, as far as their names tell
	Logs     []string // logs of the database that are not empty: what they hold is in no table yet
}

// OpenSource opens a table, or all files of a directory that are called .ldb or
// .sst. It keeps a file open for each.
func OpenSource(path string, o Options) (*Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s := &Source{Path: path, Dir: info.IsDir()}
	paths := []string{path}
	if s.Dir {
		if paths, s.Logs, err = listDir(path); err != nil {
			return nil, err
		}
	}
	for _, p := range paths {
		f, err := Open(p, o)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.Files = append(s.Files, f)
	}
	if err := s.agree(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// agree checks that either all tables with keys have internal keys, or none.
func (s *Source) agree() error {
	var with, without *File
	for _, f := range s.Files {
		switch {
		case f.Internal:
			with = f
		case !f.Empty:
			without = f
		}
	}
	if with != nil && without != nil {
		return fmt.Errorf("%s: keys of %s look like internal keys, and those of %s do not: say --internal-keys yes or no",
			s.Path, filepath.Base(with.Path), filepath.Base(without.Path))
	}
	s.Internal = with != nil
	return nil
}

// TablePaths returns the tables of a directory, by name.
func TablePaths(dir string) ([]string, error) {
	paths, _, err := listDir(dir)
	slices.Sort(paths)
	return paths, err
}

// listDir returns the tables of a directory, the newest first, and its logs that
// are not empty.
func listDir(dir string) (tables, logs []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch filepath.Ext(e.Name()) {
		case ".ldb", ".sst":
			tables = append(tables, path)
		case ".log":
			if info, err := e.Info(); err == nil && info.Size() > 0 {
				logs = append(logs, path)
			}
		}
	}
	if len(tables) == 0 {
		return nil, nil, fmt.Errorf("%s: a directory without .ldb and .sst files", dir)
	}
	slices.SortStableFunc(tables, newer)
	return tables, logs, nil
}

// newer orders tables by the number that their name is, as in a database, the
// highest first; others by name, the last first.
func newer(a, b string) int {
	m, aErr := number(a)
	n, bErr := number(b)
	if aErr == nil && bErr == nil && m != n {
		if m > n {
			return -1
		}
		return 1
	}
	return strings.Compare(b, a)
}

func number(path string) (uint64, error) {
	base := filepath.Base(path)
	return strconv.ParseUint(strings.TrimSuffix(base, filepath.Ext(base)), 10, 64)
}

// Size is how many bytes the tables take.
func (s *Source) Size() int64 {
	var n int64
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// Close closes all tables.
func (s *Source) Close() error {
	var errs []error
	for _, f := range s.Files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
