package goleveldb_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Paths of modules.
const (
	ourModule       = "github.com/sievetable/sievetable"
	tablesModule    = ourModule + "/table/goleveldb"
	goleveldbModule = "github.com/syndtr/goleveldb"
)

// forward replaces goleveldb's package leveldb/table by ours, except for NewWriter.
const forward = `// Package table is table/goleveldb.
package table

import ours "` + tablesModule + `"

type (
	Reader       = ours.Reader
	Writer       = ours.Writer
	ErrCorrupted = ours.ErrCorrupted
)

var (
	NewReader         = ours.NewReader
	ErrNotFound       = ours.ErrNotFound
	ErrReaderReleased = ours.ErrReaderReleased
	ErrIterReleased   = ours.ErrIterReleased
)
`

// newWriter is the rest of that package. shortNewWriter is the same for goleveldb before August 2021, whose
// NewWriter takes neither a pool nor a size.
const (
	newWriter = `package table

import ours "` + tablesModule + `"

var NewWriter = ours.NewWriter
`
	shortNewWriter = `package table

import (
	"io"

	"github.com/syndtr/goleveldb/leveldb/opt"

	ours "` + tablesModule + `"
)

func NewWriter(f io.Writer, o *opt.Options) *Writer { return ours.NewWriter(f, o, nil, 0) }
`
)

// newEngine creates a module in which goleveldb's engine uses our tables, and returns its directory. It can import
// goleveldb's packages, which are copied to the subdirectory goleveldb, and the sievetable packages of this tree.
func newEngine(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	goRun(t, "", "mod", "download", goleveldbModule)
	root, source := moduleDir(t, ourModule), moduleDir(t, goleveldbModule)
	engine := filepath.Join(dir, "goleveldb")
	noError(t, os.CopyFS(engine, os.DirFS(source)))
	if mod := filepath.Join(engine, "go.mod"); !exists(mod) { // it had none until 2019
		noError(t, os.WriteFile(mod, []byte("module "+goleveldbModule+"\n"), 0o666))
	}
	replaceTables(t, filepath.Join(engine, "leveldb", "table"))
	writeMod(t, dir, root)
	var sums []byte
	for _, name := range []string{filepath.Join(source, "go.sum"), filepath.Join(root, "go.sum")} {
		sum, err := os.ReadFile(name)
		if exists(name) { // goleveldb had none until 2019
			noError(t, err)
		}
		sums = append(sums, sum...)
	}
	noError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o666))
	return dir
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// moduleDir returns the source directory of a module.
func moduleDir(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSpace(goRun(t, "", "list", "-m", "-f", "{{.Dir}}", path))
}

// goRun runs a go command in a directory, outside any workspace, and returns its output.
func goRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// engineRun is goRun for a command in a module of newEngine. With -trimpath, it reuses cached builds of other
// directories.
func engineRun(t *testing.T, dir, command string, args ...string) string {
	t.Helper()
	return goRun(t, dir, append([]string{command, "-mod=mod", "-trimpath"}, args...)...)
}

// replaceTables replaces the package in dir, except for its tests of exported names.
func replaceTables(t *testing.T, dir string) {
	t.Helper()
	writer, err := os.ReadFile(filepath.Join(dir, "writer.go"))
	noError(t, err)
	create := newWriter
	if !bytes.Contains(writer, []byte("func NewWriter(f io.Writer, o *opt.Options, pool ")) {
		create = shortNewWriter
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	noError(t, err)
	for _, name := range files {
		if base := filepath.Base(name); base != "table_test.go" && base != "table_suite_test.go" {
			noError(t, os.Remove(name))
		}
	}
	noError(t, os.WriteFile(filepath.Join(dir, "table.go"), []byte(forward), 0o666))
	noError(t, os.WriteFile(filepath.Join(dir, "writer.go"), []byte(create), 0o666))
}

// writeMod writes the go.mod of a module of newEngine. Its path allows it to import internal packages below ours.
func writeMod(t *testing.T, dir, root string) {
	t.Helper()
	mod := fmt.Appendf(nil, "module %s/engine\n\ngo 1.25\n\n", tablesModule)
	for _, r := range []struct{ path, dir string }{
		{goleveldbModule, "./goleveldb"},
		{ourModule, root},
		{tablesModule, filepath.Join(root, "table", "goleveldb")},
	} {
		mod = fmt.Appendf(mod, "require %s v0.1.0\nreplace %s => %s\n", r.path, r.path, r.dir)
	}
	noError(t, os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o666))
}
