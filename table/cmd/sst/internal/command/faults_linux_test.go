package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// faults are the errors of system calls, in the notation of strace.
var faults = []string{
	"openat:error=EIO", "openat:error=EMFILE", "newfstatat:error=EIO", "fstat:error=EIO", "getdents64:error=EIO",
	"read:error=EIO", "pread64:error=EIO", "write:error=ENOSPC", "pwrite64:error=ENOSPC", "ftruncate:error=EIO",
	"fsync:error=EIO", "close:error=EIO", "renameat:error=EIO", "renameat2:error=EIO", "unlinkat:error=EIO",
	"mkdirat:error=EIO", "fchmod:error=EIO", "fchmodat:error=EIO", "fcntl:error=EIO", "flock:error=EIO",
}

// mustFail matches faults of which each is reported.
var mustFail = regexp.MustCompile("=(fsync|pwrite|renameat)")

// A faulty is a command whose system calls fail.
type faulty struct {
	args, out string // out is the table, database or set that it writes, or ""
	sst, dir  string // sst's path, and where it runs
	files     fs.FS  // in dir, before

	stdout, before, after string // without a fault: standard output, and the entries of out
}

// If a system call fails, a command does its work all the same, or says why not and leaves its output as before or
// complete. Only a repair may lose what it cannot read, and says so. By strace, one call after another fails.
func TestSystemCallsFail(t *testing.T) {
	long.NoRace(t)
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) && os.Getenv("SIEVETABLE_STRACE") == "required" {
			t.Fatal(err)
		}
		t.Skip(err) // tracing may not be allowed
	}
	files := filesOfFaulty(t)
	for _, c := range []*faulty{
		{args: "scan db"}, {args: "verify db t.ldb"}, {args: "get t.ldb key7"},
		{args: "build -o t.ldb lines", out: "t.ldb"},
		{args: "build --set --force -o set lines", out: "set"},
		{args: "convert t.ldb -o t.ldb --bits 12", out: "t.ldb"},
		{args: "merge db lines.ldb -o t.ldb", out: "t.ldb"},
		{args: "repair db -o new", out: "new"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			c.sst, c.dir, c.files = scripttest.Link(t, "sst"), filepath.Join(t.TempDir(), "dir"), files
			c.prepare(t)
			c.before = c.entries()
			c.stdout, _, _, _ = c.run(t, "")
			c.after = c.entries()
			failures, step := 0, 16/long.Rounds(1, 16)
			for i, fault := range faults {
				for n := 1 + i%step; c.check(t, fmt.Sprint("inject=", fault, ":when=", n)); n += step {
					failures++
				}
			}
			if failures == 0 {
				t.Error("no call failed")
			}
		})
	}
}

func (c *faulty) path(name string) string { return filepath.Join(c.dir, name) }

// prepare restores the files of the directory.
func (c *faulty) prepare(t *testing.T) {
	t.Helper()
	noError(t, errors.Join(os.RemoveAll(c.dir), os.CopyFS(c.dir, c.files)))
}

// filesOfFaulty returns the files that each faulty begins with.
func filesOfFaulty(t *testing.T) fs.FS {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	d := &rawDatabase{dir: path("db")}
	d.table(t, 1, 1, []rawEntry{{"a", 1, 1, "1"}, {"b", 2, 1, "2"}}, nil)
	d.log(t, []rawEntry{{"a", 3, 0, ""}, {"c", 4, 1, "4"}})
	d.end(t)
	noError(t, os.WriteFile(path("lines"), []byte(numberedLines(100, "key%[1]d\tvalue %[1]d")), 0o666))
	mustSST(t, "build", "-o", path("t.ldb"), path("lines"))
	mustSST(t, "build", "--set", "-o", path("set"), path("lines"))
	noError(t, os.WriteFile(path("lines"), []byte(numberedLines(200, "key%[1]d\tother %[1]d")), 0o666))
	mustSST(t, "build", "-o", path("lines.ldb"), path("lines"))
	return os.DirFS(dir)
}

// entries returns the entries of the output, or why there are none.
func (c *faulty) entries() string {
	status, out, stderr := sst("scan", c.path(c.out))
	if status == cli.ExitOK {
		return out // without notes
	}
	return out + stderr
}

// run runs the command, with a fault unless inject is "", and returns how many calls failed.
func (c *faulty) run(t *testing.T, inject string) (stdout, stderr string, failed int, err error) {
	t.Helper()
	args := append([]string{c.sst}, strings.Fields(c.args)...)
	log := c.dir + ".strace"
	if inject != "" {
		call, _, _ := strings.Cut(strings.TrimPrefix(inject, "inject="), ":")
		args = append([]string{"strace", "--seccomp-bpf", "-f", "-qq", "-o", log, "-e", "trace=" + call, "-e", inject}, args...)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &errs
	err = cmd.Run()
	traced, _ := os.ReadFile(log) // there is none without a fault
	return out.String(), errs.String(), strings.Count(string(traced), "(INJECTED)"), err
}

// check runs the command with a fault, and reports whether a call failed.
func (c *faulty) check(t *testing.T, inject string) bool {
	t.Helper()
	c.prepare(t)
	stdout, stderr, failed, err := c.run(t, inject)
	entries := c.entries()
	exit := (*exec.ExitError)(nil)
	isLossy := errors.As(err, &exit) && exit.ExitCode() == cli.ExitDamaged && c.out == "new" // a repair
	switch {
	case err == nil && failed > 0 && mustFail.MatchString(inject):
		t.Errorf("%s: status 0", inject)
	case err == nil && (stdout != c.stdout || entries != c.after):
		t.Errorf("%s: status 0, and\n%s%s", inject, stdout, entries)
	case err != nil && (stderr == "" && !strings.HasPrefix(inject, "inject=write") || !isLossy && !slices.Contains([]string{c.before, c.after}, entries)):
		t.Errorf("%s: %v, %q, and\n%s", inject, err, stderr, entries)
	}
	return failed > 0
}
