package source

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// openWith is like OpenSource, but keeps the losses and notes of an earlier Source of the same path. If files of a
// directory are removed meanwhile, it tries again.
func openWith(path string, o Options, losses *losses, noted map[string]bool) (s *Source, err error) {
	for range maxTries {
		s, err = openOnce(path, o, losses, noted)
		if !errors.Is(err, fs.ErrNotExist) || !dbdir.IsDirectory(path) {
			break
		}
	}
	return s, err
}

// maxTries is the number of times that a directory is read if files keep being removed.
const maxTries = 10

// untilUnchanged calls do, and calls it again if files were removed meanwhile.
func (s *Source) untilUnchanged(do func() error) (err error) {
	for range maxTries {
		if err = do(); !s.reopenIfChanged(err) {
			break
		}
	}
	return err
}

// reopenIfChanged opens the directory again if err says that a file was removed, as happens when the database is in
// use. It reports whether it did.
func (s *Source) reopenIfChanged(err error) bool {
	if !s.Dir || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	again, err := openWith(s.Path, s.o, s.losses, s.noted)
	if err != nil {
		return false
	}
	s.note("%s changed while it was read%s", s.Path, map[bool]string{false: ", because its database is in use"}[s.isSet() || !s.dir.IsSame(&again.dir)])
	for _, note := range again.Notes {
		if !slices.Contains(s.Notes, note) {
			s.note("%s", note)
		}
	}
	s.Close() // it was only read
	*s = *again
	return true
}

// checkReplaced returns an error if another directory has taken the name of the Source's. Its files can have the same
// names. Like a file that was removed, the error makes the Source open the directory again.
func (s *Source) checkReplaced() error {
	if s.Dir && s.dir.WasReplaced() {
		return files.ReplacedError(s.Path + ": another directory replaced it")
	}
	return nil
}

// checkSame returns an error if a scan of before cannot go on in s: it is another directory, or another set. The same
// set can be in another directory.
func (s *Source) checkSame(before *Source) error {
	switch {
	case s.isSet() || before.isSet():
		if !slices.EqualFunc(before.Tables, s.Tables, (*Table).isSame) {
			return files.ReplacedError(s.Path + ": another set replaced it")
		}
	case !s.dir.IsSame(&before.dir):
		return files.ReplacedError(s.Path + ": another directory replaced it")
	}
	return nil
}
