// Package scripttest is shared by the tests of several programs. It has script commands, and measures processes.
package scripttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sievetable/sievetable/internal/long"
)

// OnUnix skips a test on Windows, where names, permissions, shells and the system's errors are others.
func OnUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows is different")
	}
}

// Commands are commands of scripts.
var Commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"damage": damage, "status": status, "truncate": truncate,
}

// Condition reports whether a script condition holds: [long] if long tests are enabled, or [race] if the race
// detector is on.
func Condition(name string) (bool, error) {
	switch name {
	case "long":
		return long.Enabled(), nil
	case "race":
		return long.Race, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// status STATUS COMMAND... runs a command and checks its exit status.
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || fmt.Sprint(exit.ExitCode()) != args[0] {
		ts.Fatalf("%v: %v, want exit status %s", args[1:], err, args[0])
	}
}

// damage FILE OFFSET inverts a byte. A negative offset counts from the end.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	contents, err := os.ReadFile(name)
	ts.Check(err)
	offset, err := strconv.Atoi(args[1])
	ts.Check(err)
	if offset < 0 {
		offset += len(contents)
	}
	contents[offset] ^= 0xff
	ts.Check(os.WriteFile(name, contents, 0o666))
}

// truncate FILE SIZE changes the length of a file.
func truncate(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}
