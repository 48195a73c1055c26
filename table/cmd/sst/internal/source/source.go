package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Source is a table, or the tables of a directory, which are searched as one.
type Source struct {
	Path     string
	Dir      bool
	Internal bool
	Files    []*File  // the newest first, as far as their names tell
	Notes    []string // what is not seen, for people
}

// OpenSource opens a table, or those of a directory. It keeps a file open for each.
func OpenSource(path string, o Options) (*Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s := &Source{Path: path, Dir: info.IsDir()}
	paths := []string{path}
	if s.Dir {
		dir, err := ListDir(path, o)
		if err != nil {
			return nil, err
		}
		paths, s.Notes = dir.Tables, dir.Notes
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

// Close closes all tables.
func (s *Source) Close() error {
	var errs []error
	for _, f := range s.Files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
