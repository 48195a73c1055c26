// Package enginemodule creates modules in which goleveldb's whole engine uses the tables of table/goleveldb.
package enginemodule

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Paths of modules.
const (
	ourModule = "github.com/sievetable/sievetable"
	tables    = ourModule + "/table/goleveldb"
	goleveldb = "github.com/syndtr/goleveldb"
)

// forward replaces goleveldb's package leveldb/table in the module by ours.
const forward = `// Package table is table/goleveldb.
package table

import ours "` + tables + `"

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

import ours "` + tables + `"

var NewWriter = ours.NewWriter
`
	shortNewWriter = `package table

import (
	"io"

	"github.com/syndtr/goleveldb/leveldb/opt"

	ours "` + tables + `"
)

func NewWriter(f io.Writer, o *opt.Options) *Writer { return ours.NewWriter(f, o, nil, 0) }
`
)

// A Module is a module in its own directory. It can import goleveldb's packages, which are copied to the
// subdirectory goleveldb, and the sievetable packages of this tree.
type Module struct {
	Dir  string
	root string // of this tree
}

// New creates a module in dir, which must be empty. The working directory must be in a module that requires
// sievetable and goleveldb.
func New(dir string) (*Module, error) {
	root, err := moduleDir(ourModule)
	if err != nil {
		return nil, err
	}
	source, err := moduleDir(goleveldb)
	if err != nil {
		return nil, err
	}
	m := &Module{Dir: dir, root: root}
	engine := filepath.Join(dir, "goleveldb")
	if err := os.CopyFS(engine, os.DirFS(source)); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if err := addMod(engine); err != nil {
		return nil, err
	}
	if err := replaceTables(filepath.Join(engine, "leveldb", "table")); err != nil {
		return nil, err
	}
	if err := m.writeMod(); err != nil {
		return nil, err
	}
	return m, m.writeSum(filepath.Join(source, "go.sum"), filepath.Join(root, "go.sum"))
}

// addMod adds a go.mod to the copy of goleveldb, which had none until 2019.
func addMod(dir string) error {
	name := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	return os.WriteFile(name, []byte("module "+goleveldb+"\n"), 0o666)
}

// moduleDir returns the source directory of a module, and downloads it if needed.
func moduleDir(path string) (string, error) {
	if out, err := goCommand("", "mod", "download", path).CombinedOutput(); err != nil && path != ourModule {
		return "", fmt.Errorf("engine: go mod download %s: %w\n%s", path, err, out)
	}
	out, err := goCommand("", "list", "-m", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		return "", fmt.Errorf("engine: go list -m %s: %w", path, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// goCommand returns a go command that runs in dir, outside any workspace.
func goCommand(dir string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off")
	return c
}

// replaceTables replaces the package in dir, except for its tests of exported names.
func replaceTables(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("engine: %s has no Go files", dir), err)
	}
	writer, err := os.ReadFile(filepath.Join(dir, "writer.go"))
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	create := newWriter
	if !bytes.Contains(writer, []byte("func NewWriter(f io.Writer, o *opt.Options, pool ")) {
		create = shortNewWriter
	}
	for _, name := range files {
		if base := filepath.Base(name); base == "table_test.go" || base == "table_suite_test.go" {
			continue
		}
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "table.go"), []byte(forward), 0o666),
		os.WriteFile(filepath.Join(dir, "writer.go"), []byte(create), 0o666),
	)
}

// writeMod writes the module's go.mod. The module's path allows it to import internal packages below tables.
func (m *Module) writeMod() error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "module %s/engine\n\ngo 1.25\n\n", tables)
	for _, r := range []struct{ path, dir string }{
		{goleveldb, "./goleveldb"},
		{ourModule, m.root},
		{tables, filepath.Join(m.root, "table", "goleveldb")},
	} {
		fmt.Fprintf(&b, "require %s v0.1.0\nreplace %s => %s\n", r.path, r.path, r.dir)
	}
	return os.WriteFile(filepath.Join(m.Dir, "go.mod"), b.Bytes(), 0o666)
}

// writeSum writes the module's go.sum.
func (m *Module) writeSum(from ...string) error {
	var all []byte
	for _, name := range from {
		sum, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // goleveldb had none until 2019
			return fmt.Errorf("engine: %w", err)
		}
		all = append(all, sum...)
	}
	return os.WriteFile(filepath.Join(m.Dir, "go.sum"), all, 0o666)
}

// Go returns a go command that runs in the module. With -trimpath, it reuses cached builds of other directories.
func (m *Module) Go(command string, args ...string) *exec.Cmd {
	return goCommand(m.Dir, append([]string{command, "-mod=mod", "-trimpath"}, args...)...)
}
