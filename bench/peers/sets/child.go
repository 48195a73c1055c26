package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// childArg is the first argument of a process that performs a step for an engine. It is followed by the step, the
// name of the engine, the argument of the step, and the directory with the keys and the set.
const childArg = "child"

const (
	stepWrite = "write" // the argument is the name of a file of keys
	stepQuery = "query" // the argument is the name of a way to open the set
	stepCurve = "curve" // the argument is not used
)

// setDir is the directory of the set, in the directory of the keys.
const setDir = "set"

// child returns the command for a step.
func child(step, engine, arg, dir string) (*exec.Cmd, error) {
	self, err := os.Executable()
	return exec.Command(self, childArg, step, engine, arg, dir), err
}

// runChild performs a step. Steps that query print their measurements as JSON.
func runChild(args []string, out io.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("%d arguments of a child process, not 4", len(args))
	}
	e, err := findEngine(args[1])
	if err != nil {
		return err
	}
	dir := args[3]
	var measured any
	switch args[0] {
	case stepWrite:
		return e.writeFile(dir, args[2])
	case stepQuery:
		measured, err = e.query(args[2], dir)
	case stepCurve:
		measured, err = queryByMemorySize(dir)
	default:
		err = fmt.Errorf("no step %q", args[0])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(measured)
}

// writeFile has a peer write the keys of a file.
func (e engine) writeFile(dir, file string) error {
	k, err := openKeys(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	return errors.Join(e.write(filepath.Join(dir, setDir), k), k.Close())
}
