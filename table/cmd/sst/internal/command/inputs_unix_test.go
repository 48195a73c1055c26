//go:build unix

package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A command can read more tables than the limit on open files.
func TestMoreInputsThanFiles(t *testing.T) {
	t.Parallel()
	const tables, files = 100, 48
	dir := t.TempDir()
	var want strings.Builder
	for i := range tables {
		line := fmt.Sprintf("key%03d\tvalue %d\n", i, i)
		want.WriteString(line)
		mustSST(t, "build", "-o", filepath.Join(dir, fmt.Sprintf("%03d.ldb", i)), tempFile(t, "in", line))
	}
	for _, args := range []string{`merge *.ldb -o "$1"`, "scan .", "verify .", "stats --json *.ldb"} {
		p := command(t)
		script := fmt.Sprintf(`ulimit -n %d; exec "$0" %s`, files, args)
		p.Cmd = exec.Command("sh", "-c", script, p.Path, filepath.Join(t.TempDir(), "merged.ldb"))
		p.Dir = dir
		out, err := p.CombinedOutput()
		if err != nil {
			t.Errorf("sst %s with %d open files: %v\n%s", args, files, err, out)
		}
		if strings.HasPrefix(args, "scan") && string(out) != want.String() {
			t.Errorf("sst %s with %d open files prints %d bytes, want %d", args, files, len(out), want.Len())
		}
	}
}

// Commands do not wait for a named pipe in place of a database's file. build skips pipes in a directory of inputs.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	mustSST(t, "build", "-o", filepath.Join(dir, "000005.ldb"), os.DevNull, "--input-format", "keys")
	out := filepath.Join(t.TempDir(), "out.ldb")
	for _, tt := range []struct {
		name, current string
		args          []string
		status        int
		want          string // on stderr
	}{
		{"CURRENT", "", []string{"scan", dir}, cli.ExitDamaged, "CURRENT: a named pipe, not a regular file: reading all tables"},
		{"MANIFEST-000001", "MANIFEST-000001\n", []string{"scan", dir}, cli.ExitDamaged, "MANIFEST-000001: a named pipe, not a regular file: reading all tables"},
		{"000009.ldb", "", []string{"scan", dir}, cli.ExitUsage, "000009.ldb: a named pipe, not a regular file"},
		{"pipe.ldb", "", []string{"verify", filepath.Join(dir, "pipe.ldb")}, cli.ExitUsage, "could not be checked completely"},
		{"pipe.ldb", "", []string{"repair", "-o", out, filepath.Join(dir, "pipe.ldb")}, cli.ExitUsage, "pipe.ldb: a named pipe, not a regular file"},
		{"pipe", "", []string{"build", "-o", out, dir}, 0, ""},
	} {
		pipe, current := filepath.Join(dir, tt.name), filepath.Join(dir, "CURRENT")
		if tt.current != "" {
			writeFile(t, current, tt.current)
		}
		if err := syscall.Mkfifo(pipe, 0o666); err != nil {
			t.Skip(err)
		}
		checkSST(t, tt.status, tt.want, tt.args...)
		noError(t, os.Remove(pipe))
		os.Remove(current)
	}
}

// build reads lines from a named pipe.
func TestLinesOfAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe, out := filepath.Join(dir, "pipe"), filepath.Join(dir, "out.ldb")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	written := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err == nil {
			_, err = io.WriteString(f, "ada\tlovelace\n")
			err = errors.Join(err, f.Close())
		}
		written <- err
	}()
	mustSST(t, "build", "-o", out, pipe)
	noError(t, <-written)
	checkPrints(t, "ada\tlovelace\n", "scan", out)
}
