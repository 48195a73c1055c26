package set_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// filesOf returns a file system with a set of n tables in the directory dir.
func filesOf(t *testing.T, n int, dir string) fstest.MapFS {
	t.Helper()
	src, m := numberedSet(t, n, filtered)
	var manifest bytes.Buffer
	noError(t, set.WriteManifest(&manifest, m))
	files := fstest.MapFS{path.Join(dir, set.ManifestName): {Data: manifest.Bytes()}}
	for name, contents := range src.files {
		files[path.Join(dir, name)] = &fstest.MapFile{Data: contents}
	}
	return files
}

// A countedFS counts the open files of a file system. Its files have ReadAt.
type countedFS struct {
	fs.FS
	open, most atomic.Int64
}

func (c *countedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

func (c *countedFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		return f, nil
	}
	n := c.open.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return &countedFile{f, at, c}, nil
}

// A countedFile is an open file of a countedFS.
type countedFile struct {
	fs.File
	io.ReaderAt
	of *countedFS
}

func (f *countedFile) Close() error {
	f.of.open.Add(-1)
	return f.File.Close()
}

// A set in an fs.FS returns the same results as one in a directory, and closes its files.
func TestOpenFSAnswersAsOpenDir(t *testing.T) {
	t.Parallel()
	const tables, sub = 3, "lists/urls"
	files := filesOf(t, tables, sub)
	dir := t.TempDir()
	noError(t, os.CopyFS(dir, files))
	root, err := os.OpenRoot(dir)
	noError(t, err)
	t.Cleanup(func() { root.Close() })
	for name, test := range map[string]struct {
		fsys fs.FS
		dir  string
		o    *set.Options
		most int64 // files open at the same time
	}{
		"os.DirFS":               {os.DirFS(dir), sub, nil, tables},
		"os.DirFS of the set":    {os.DirFS(dir + "/" + sub), ".", nil, tables},
		"os.Root.FS":             {root.FS(), sub, eager, tables},
		"in memory":              {files, sub, eager, tables},
		"one open file":          {os.DirFS(dir), sub, &set.Options{MaxOpenFiles: 1}, 1},
		"one open file of many":  {files, sub, &set.Options{MaxOpenFiles: 1, OpenAll: true}, 1},
		"Mapped, which is unset": {os.DirFS(dir), sub, &set.Options{Reader: table.ReaderOptions{Mapped: true}}, tables},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted := &countedFS{FS: test.fsys}
			s, err := set.OpenFS(background, counted, test.dir, test.o)
			noError(t, err)
			if n := counted.open.Load(); test.o == nil && n != 0 {
				t.Errorf("%d files are open before the first lookup, want 0", n)
			}
			for i := range tables * perTable {
				checkGet(t, s, key(i), valueOf(i))
				checkGet(t, s, key(i)+"x", "")
			}
			noError(t, s.Verify(background, nil))
			if n, most := counted.open.Load(), counted.most.Load(); n != test.most || most != test.most {
				t.Errorf("%d files are open, and %d were at the same time; want %d", n, most, test.most)
			}
			noError(t, errors.Join(s.Close(), s.Drain(background)))
			if n := counted.open.Load(); n != 0 {
				t.Errorf("%d files are open after Close and Drain, want 0", n)
			}
		})
	}
}

// zipOf returns a zip archive of files, which do not have ReadAt.
func zipOf(t *testing.T, files fs.FS) fs.FS {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	noError(t, errors.Join(w.AddFS(files), w.Close()))
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	noError(t, err)
	return z
}

// A zippedTables has its manifest in memory, and its tables in a zip archive.
type zippedTables struct{ manifest, tables fs.FS }

func (z zippedTables) Open(name string) (fs.File, error) {
	if path.Base(name) == set.ManifestName {
		return z.manifest.Open(name)
	}
	return z.tables.Open(name)
}

// If a file is missing or cannot be read, the error names it, and no file stays open.
func TestOpenFSOfNoSet(t *testing.T) {
	t.Parallel()
	files := func() fstest.MapFS { return filesOf(t, 3, "urls") }
	noTable, halfManifest, noManifest, dirForTable := files(), files(), files(), files()
	delete(noTable, "urls/t001")
	delete(noManifest, "urls/set.jsonl")
	halfManifest["urls/set.jsonl"].Data = halfManifest["urls/set.jsonl"].Data[:100]
	dirForTable["urls/t001"].Mode = fs.ModeDir
	for name, test := range map[string]struct {
		fsys   fs.FS
		dir    string
		o      set.Options
		wantIs error // nil: any
		want   string
	}{
		"no manifest":            {noManifest, "urls", set.Options{}, fs.ErrNotExist, "set: open urls/set.jsonl: "},
		"no directory":           {files(), "none", set.Options{}, fs.ErrNotExist, "set: open none/set.jsonl: "},
		"half a manifest":        {halfManifest, "urls", set.Options{}, nil, "set: line 2 of the manifest: "},
		"no table":               {noTable, "urls", *eager, fs.ErrNotExist, `table "t001": reading `},
		"no table, by name":      {noTable, "urls", *eager, fs.ErrNotExist, "open urls/t001: "},
		"a directory as a table": {dirForTable, "urls", *eager, nil, "open urls/t001: a directory, not a regular file"},
		"a path outside":         {files(), "../urls", set.Options{}, fs.ErrInvalid, "set: open ../urls: "},
		"an absolute path":       {files(), "/urls", set.Options{}, fs.ErrInvalid, "set: open /urls: "},
		"a manifest in a zip": {zipOf(t, files()), "urls", set.Options{}, nil,
			"set: open urls/set.jsonl: the file has no method ReadAt: read it into memory"},
		"tables in a zip": {zippedTables{files(), zipOf(t, files())}, "urls", *eager, nil,
			"open urls/t000: the file has no method ReadAt: read it into memory"},
		"too few open files": {files(), "urls", set.Options{MaxOpenFiles: -1}, nil, "set: MaxOpenFiles is -1: must be 0 to 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted := &countedFS{FS: test.fsys}
			_, err := set.OpenFS(background, counted, test.dir, &test.o)
			checkError(t, "OpenFS", err, test.wantIs, test.want)
			if n := counted.open.Load(); n != 0 {
				t.Errorf("%d files are open, want 0", n)
			}
		})
	}
}

// If a table is missing, its lookups fail until it is back. A file that was replaced while closed is noticed by its
// time. If it is the same table, lookups continue.
func TestFilesOfAnFSThatChange(t *testing.T) {
	t.Parallel()
	files := filesOf(t, 2, ".")
	late := files["t001"]
	delete(files, "t001")
	s, err := set.OpenFS(background, files, ".", &set.Options{MaxOpenFiles: 1})
	noError(t, err)
	defer s.Close()
	checkGet(t, s, key(3), valueOf(3))
	checkGetFails(t, s, key(60), fs.ErrNotExist)
	files["t001"] = late
	checkGet(t, s, key(60), valueOf(60))
	checkGet(t, s, key(3), valueOf(3)) // closes the file of the other table
	files["t001"] = &fstest.MapFile{Data: late.Data, ModTime: time.Unix(1_000_000_000, 0)}
	checkGetFails(t, s, key(60), set.ErrReplaced)
	checkGet(t, s, key(60), valueOf(60))
}
