package goleveldb_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/opt"
	ltable "github.com/syndtr/goleveldb/leveldb/table"
)

// The tests are built with several versions of goleveldb. This file contains the differences.

// theirWriter returns goleveldb's Writer. If NewWriter takes a pool and a size, they are zero by default.
func theirWriter(f io.Writer, o *opt.Options, poolAndSize ...any) writer {
	create := reflect.ValueOf(ltable.NewWriter)
	args := []reflect.Value{reflect.ValueOf(f), reflect.ValueOf(o)}
	for i := len(args); i < create.Type().NumIn(); i++ {
		arg := reflect.Zero(create.Type().In(i))
		if i-2 < len(poolAndSize) {
			arg = reflect.ValueOf(poolAndSize[i-2])
		}
		args = append(args, arg)
	}
	return create.Call(args)[0].Interface().(writer)
}

// withFilterBaseLg returns o with a FilterBaseLg, if options have that field.
func withFilterBaseLg(o opt.Options, lg int) opt.Options {
	if f := reflect.ValueOf(&o).Elem().FieldByName("FilterBaseLg"); f.IsValid() {
		f.SetInt(int64(lg))
	}
	return o
}

// otherVersions are versions of goleveldb that this package supports besides the one in go.mod: the oldest on the
// module proxy, and the newest. Commits of an hour earlier lack FileDesc.Zero.
var otherVersions = []string{"v0.0.0-20161011050008-6b4daa5362b5", "v1.0.1-0.20220721030215-126854af5e6d"}

// All tests pass with other versions of goleveldb too.
func TestOtherVersionsOfGoleveldb(t *testing.T) {
	t.Parallel()
	const inCopy = "SIEVETABLE_IN_COPY"
	if os.Getenv(inCopy) != "" {
		t.Skip("this is the test with one of the versions")
	}
	for _, version := range otherVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := copyModule(t)
			for _, args := range [][]string{
				{"get", "github.com/syndtr/goleveldb@" + version},
				{"vet", "./..."},
				{"test", "-vet=off", "-count=1", "-timeout=30m", fmt.Sprintf("-short=%t", testing.Short()), "./..."},
			} {
				c := exec.CommandContext(t.Context(), "go", args...)
				c.Dir, c.Env = dir, append(os.Environ(), inCopy+"=yes")
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("go %q: %v\n%s", args, err, out)
				}
			}
		})
	}
}

// copyModule copies this module, with the files that its tests read, and returns the copy's directory.
func copyModule(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	noError(t, err)
	tree := t.TempDir()
	dir := filepath.Join(tree, "table", "goleveldb")
	noError(t, os.CopyFS(dir, os.DirFS(".")))
	noError(t, os.Symlink(filepath.Join(root, "testdata"), filepath.Join(tree, "testdata")))
	c := exec.Command("go", "mod", "edit", "-replace=github.com/sievetable/sievetable="+root)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go mod edit: %v\n%s", err, out)
	}
	return dir
}
