// Package database reads what a LevelDB or goleveldb database says of itself: which
// tables it has.
package database

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	lerrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/journal"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Version is what a database consists of.
type Version struct {
	Comparer string          // the name of its order
	Log      uint64          // the number of the log whose writes are in no table yet; those below are done with
	Tables   map[uint64]bool // the numbers of its tables
}

// ManifestName matches what a MANIFEST is called.
var ManifestName = regexp.MustCompile(`^MANIFEST-[0-9]+$`)

// What is larger no database has, or few: a MANIFEST is written anew when the database is
// opened.
const (
	maxCurrent  = 4 << 10
	maxManifest = 256 << 20
	maxEdit     = 64 << 20
	maxTables   = 1 << 20
)

// Read reads the version that the directory's files CURRENT and MANIFEST-… give. It is
// fs.ErrNotExist if there is no CURRENT.
func Read(dir string) (*Version, error) {
	name, err := readCurrent(filepath.Join(dir, "CURRENT"))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	f, size, err := open(path, maxManifest)
	if err != nil {
		return nil, fmt.Errorf("%s names a file that cannot be read: %v", filepath.Join(dir, "CURRENT"), err)
	}
	defer f.Close() // it was only read
	v := &Version{Tables: map[uint64]bool{}}
	if err := v.read(io.NewSectionReader(f, 0, size)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// readCurrent returns the name of the MANIFEST.
func readCurrent(path string) (string, error) {
	f, size, err := open(path, maxCurrent)
	if err != nil {
		return "", err
	}
	defer f.Close() // it was only read
	current, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(string(current), "\n")
	if !ManifestName.MatchString(name) {
		return "", fmt.Errorf("%s names %q, want a MANIFEST", path, name)
	}
	return name, nil
}

// open opens a file of most bytes at most.
func open(path string, most int64) (f *os.File, size int64, err error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if size = info.Size(); size > most {
		return nil, 0, errors.Join(fmt.Errorf("%s: %d bytes, want at most %d", path, size, most), f.Close())
	}
	return f, size, nil
}

// read applies the edits in the order that they were made. One that was being written
// when the database died does not count: it is longer than what is left of the file
// (LevelDB, db/log_reader.cc, takes it so too).
func (v *Version) read(f io.Reader) error {
	all := &ending{r: f}
	edits := journal.NewReader(all, nil, true, true)
	for n := 0; ; n++ {
		r, err := edits.Next()
		if err == io.EOF && n > 0 {
			return nil
		}
		var edit []byte
		if err == nil {
			edit, err = io.ReadAll(io.LimitReader(r, maxEdit+1))
		}
		if len(edit) > maxEdit {
			err = fmt.Errorf("over %d bytes, want at most that many", maxEdit)
		}
		if n > 0 && all.ended && isCut(err) {
			return nil
		}
		if err == nil {
			err = v.apply(edit)
		}
		if err != nil {
			return fmt.Errorf("edit %d: %w", n, err)
		}
	}
}

// isCut reports whether a record is longer than what there is, or is zeros, which file
// systems leave behind the end.
func isCut(err error) bool {
	var outer *lerrors.ErrCorrupted
	if !errors.As(err, &outer) {
		return false
	}
	inner, ok := outer.Err.(*journal.ErrCorrupted)
	return ok && slices.Contains([]string{"chunk length overflows block", "missing chunk part", "zero header"}, inner.Reason)
}

// ending is a reader that knows when it has come to the end.
type ending struct {
	r     io.Reader
	ended bool
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.ended = e.ended || err == io.EOF
	return n, err
}

// The fields of an edit (LevelDB, db/version_edit.cc).
const (
	fieldComparer    = 1
	fieldLog         = 2
	fieldNextFile    = 3
	fieldSequence    = 4
	fieldCompactFrom = 5
	fieldDelete      = 6
	fieldAdd         = 7
	fieldPreviousLog = 9
)

// apply applies one edit: fields, each of a number and what that says.
func (v *Version) apply(edit []byte) error {
	d := decoder{rest: edit}
	for len(d.rest) > 0 {
		switch field := d.number(); field {
		case fieldComparer:
			v.Comparer = string(d.bytes())
		case fieldLog:
			v.Log = d.number()
		case fieldNextFile, fieldSequence, fieldPreviousLog:
			d.number()
		case fieldCompactFrom:
			d.number() // level
			d.bytes()
		case fieldDelete:
			d.number() // level
			delete(v.Tables, d.number())
		case fieldAdd:
			d.number() // level
			v.Tables[d.number()] = true
			d.number() // size
			d.bytes()  // first key
			d.bytes()  // last key
		default:
			return fmt.Errorf("field %d, which LevelDB does not have", field)
		}
		if d.bad {
			return errors.New("cut short")
		}
		if len(v.Tables) > maxTables {
			return fmt.Errorf("the database lists over %d tables, want at most that many", maxTables)
		}
	}
	return nil
}

// decoder takes numbers and bytes off the start of rest. It is bad when they are not
// all there.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) number() uint64 {
	v, n := wire.Uvarint(d.rest)
	if n == 0 {
		d.bad, d.rest = true, nil
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}
