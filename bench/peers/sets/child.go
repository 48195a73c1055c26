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

// childArg is the first argument of a process that is a step of an engine. Behind it are the step, the name
// of the engine, what the step takes, and the directory that has the keys and the set.
const childArg = "child"

const (
	stepWrite = "write" // takes the name of the file of keys
	stepAsk   = "ask"   // takes the name of the way to open the set
	stepCurve = "curve" // takes nothing
)

// setDir is where the set is in the directory of the keys.
const setDir = "set"

// child returns the process of a step.
func child(step, engine, arg, dir string) (*exec.Cmd, error) {
	self, err := os.Executable()
	return exec.Command(self, childArg, step, engine, arg, dir), err
}

// runChild does a step. Those that ask print what they measured as JSON.
func runChild(args []string, out io.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("%d arguments of a child, want 4", len(args))
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
	case stepAsk:
		measured, err = e.ask(args[2], dir)
	case stepCurve:
		measured, err = askByMemorySize(dir)
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
