// Package scripttest has what the tests of several programs do: commands of their scripts, and to measure a process.
package scripttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sievetable/sievetable/internal/long"
)

// Commands are commands of scripts.
var Commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"damage": damage, "status": status, "truncate": truncate,
}

// Condition tells whether a condition of scripts holds: [long], for what takes long, or [race], if the race detector is
// on.
func Condition(name string) (bool, error) {
	switch name {
	case "long":
		return long.Enabled(), nil
	case "race":
		return long.Race, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// status STATUS COMMAND... runs a command that ends with that exit status.
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || fmt.Sprint(exit.ExitCode()) != args[0] {
		ts.Fatalf("%v: %v, want exit status %s", args[1:], err, args[0])
	}
}

// damage FILE OFFSET inverts a byte, which a negative offset counts from the end.
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
