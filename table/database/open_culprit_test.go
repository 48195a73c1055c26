package database_test

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// For any limit of open files, the error names the first file that exceeded it, not one at which a later attempt
// failed: CURRENT only if no file can be opened at all. No file stays open.
func TestLimitsOfOpenFiles(t *testing.T) {
	t.Parallel()
	c := newChanged(t)
	for range 5 {
		c.table(t, 0, set("f", 7, "7"))
	}
	files := c.end(t)
	for limit := range int64(10) {
		fsys := &openedFS{FS: files}
		fsys.before = func(string) error {
			if fsys.open.Load() == limit { // like a process's limit
				return syscall.EMFILE
			}
			return nil
		}
		_, err := database.OpenFS(fsys, ".", nil)
		want := "open ." // to list the logs
		switch {
		case limit == 0:
			want = "CURRENT"
		case limit < 7:
			want = ".ldb"
		case limit > 7:
			want = ""
		}
		switch {
		case want == "" && err != nil, want != "" && (!errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), want+": too many open files")):
			t.Errorf("OpenFS with at most %d files = %v, want %q in it", limit, err, want)
		case limit > 0 && want != "" && !strings.HasSuffix(err.Error(), "raise the limit of open files"):
			t.Errorf("OpenFS with at most %d files = %v", limit, err)
		case err != nil && fsys.open.Load() != 0:
			t.Errorf("%d files are open after the error", fsys.open.Load())
		}
	}
}

// Messages contain only the start of a long key.
func TestErrorsShortenKeys(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("k", 3000)
	for name, change := range map[string]func(c *changed){
		"a range that is backward":               func(c *changed) { c.relist(c.one, func(m *versions.Table) { m.Smallest = internal("n"+huge, 1) }) },
		"a table of goleveldb's recovery":        func(c *changed) { c.addRecovered(huge) },
		"a last sequence number that is too low": func(c *changed) { c.table(t, 0, set(strings.Repeat("\xff", 3000), 9, "")); c.last = 8 },
	} {
		c := newChanged(t)
		change(c)
		if _, err := database.OpenFS(c.end(t), ".", nil); err == nil || len(err.Error()) > 500 {
			t.Errorf("%s: OpenFS = %.600v, want an error of at most 500 bytes", name, err)
		}
	}
	files := newChanged(t).end(t)
	files["CURRENT"].Data = []byte(huge)
	if _, err := database.OpenFS(files, ".", nil); err == nil || len(err.Error()) > 500 {
		t.Errorf("OpenFS = %.600v, want an error of at most 500 bytes", err)
	}
}

// faults are ways to corrupt a file.
var faults = map[string]func(rng *rand.Rand, files fstest.MapFS, name string){
	"removed": func(_ *rand.Rand, files fstest.MapFS, name string) { delete(files, name) },
	"a directory": func(_ *rand.Rand, files fstest.MapFS, name string) {
		files[name] = &fstest.MapFile{Mode: fs.ModeDir | 0o777}
	},
	"a pipe": func(_ *rand.Rand, files fstest.MapFS, name string) {
		files[name] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	},
	"empty": func(_ *rand.Rand, files fstest.MapFS, name string) { files[name] = &fstest.MapFile{} },
	"truncated": func(rng *rand.Rand, files fstest.MapFS, name string) {
		files[name] = &fstest.MapFile{Data: files[name].Data[:rng.IntN(len(files[name].Data))]}
	},
	"changed": func(rng *rand.Rand, files fstest.MapFS, name string) {
		data := slices.Clone(files[name].Data)
		at := rng.IntN(len(data))
		for i := at; i < min(at+1+rng.IntN(8), len(data)); i++ {
			data[i] ^= byte(1 + rng.IntN(255))
		}
		files[name] = &fstest.MapFile{Data: data}
	},
}

// fileNames match the names of files of a database in messages.
var fileNames = regexp.MustCompile(`CURRENT|MANIFEST-[0-9]+|[0-9]{6}\.(?:ldb|log)`)

// If one file is at fault, the error names that file first, whether Open finds the fault or a read.
func TestErrorsNameTheFile(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(45, 3))
	sound := newChanged(t).end(t)
	for fault, change := range faults {
		for name := range sound {
			for range 30 {
				files := maps.Clone(sound)
				change(rng, files, name)
				for _, o := range []*database.Options{nil, {LazyTables: true}} {
					if err := firstError(files, o); err != nil && !names(err, name) {
						t.Errorf("%s is %s, options %+v: %v, want %s first", name, fault, o, err, name)
					}
				}
			}
		}
	}
}

// names reports whether an error names a file first. A missing MANIFEST comes after CURRENT, which names it, since
// either can be at fault.
func names(err error, file string) bool {
	first := fileNames.FindString(err.Error())
	if strings.HasPrefix(file, "MANIFEST-") && strings.Contains(err.Error(), "CURRENT names "+file+", which does not exist") {
		first = file
	}
	return first == file
}

// firstError returns the first error of opening a database and reading all of it, or nil.
func firstError(files fstest.MapFS, o *database.Options) error {
	db, err := database.OpenFS(files, ".", o)
	if err != nil {
		return err
	}
	defer db.Close() // it was only read
	return firstErrorOf(db)
}

// firstErrorOf returns the first error of reading all of a database, or nil.
func firstErrorOf(db *database.DB) error {
	for _, key := range []string{"a", "b", "c", "d", "e", "m"} {
		if _, err := db.Get([]byte(key)); err != nil && !errors.Is(err, table.ErrNotFound) {
			return err
		}
	}
	it := db.NewIter(nil)
	for it.First(); it.Next(); {
	}
	return errors.Join(it.Error(), it.Close())
}
