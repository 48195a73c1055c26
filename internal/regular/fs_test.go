package regular

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
)

// OpenFS opens regular files. For others the error names the kind of file.
func TestOpenFS(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"dir/file": {Data: []byte("contents")}, "pipe": {Mode: fs.ModeNamedPipe}}
	dir := t.TempDir()
	noError(t, os.CopyFS(dir, fstest.MapFS{"dir/file": files["dir/file"]}))
	for name, test := range map[string]struct {
		fsys fs.FS
		path string
		want string // the error; "": none
	}{
		"in memory":      {files, "dir/file", ""},
		"in a directory": {os.DirFS(dir), "dir/file", ""},
		"a directory":    {files, "dir", "open dir: a directory, not a regular file"},
		"a pipe":         {files, "pipe", "open pipe: a named pipe, not a regular file"},
		"in a zip":       {zipped(t, files), "dir/file", "open dir/file: " + errNoReadAt.Error()},
		"no file":        {files, "none", "open none: file does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, info, err := OpenFS(test.fsys, test.path)
			if err != nil {
				if err.Error() != test.want {
					t.Errorf("OpenFS = %v, want %q", err, test.want)
				}
				return
			}
			contents := make([]byte, info.Size())
			if _, err := f.ReadAt(contents, 0); err != nil || string(contents) != "contents" || test.want != "" {
				t.Errorf("%q, %v; want contents, or the error %q", contents, err, test.want)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// zipped returns a zip archive with the file dir/file of files.
func zipped(t *testing.T, files fstest.MapFS) fs.FS {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("dir/file")
	if err == nil {
		_, err = f.Write(files["dir/file"].Data)
	}
	noError(t, errors.Join(err, w.Close()))
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	noError(t, err)
	return z
}
