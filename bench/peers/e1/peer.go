package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/sievetable/sievetable/bench/peers/e1/internal/work"
	"github.com/sievetable/sievetable/internal/enginemodule"
)

// program is the source of an engine's program.
const program = `package main

import "github.com/sievetable/sievetable/bench/peers/e1/internal/work"

func main() { work.Main() }
`

// build builds the program of goleveldb's engine in dir, on our tables or as it is.
func build(dir string, onOurs bool) (name string, err error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	m, err := enginemodule.New(dir, "github.com/sievetable/sievetable/bench/peers/e1/engine", onOurs)
	if err != nil {
		return "", err
	}
	if err := errors.Join(m.Write("main.go", program), m.Replace("github.com/sievetable/sievetable/bench/peers/e1")); err != nil {
		return "", err
	}
	name = filepath.Join(dir, "engine.exe")
	if out, err := m.Go("build", "-o", name, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return name, nil
}

// A peer is a process with one of the engines.
type peer struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
}

// start starts a program on an empty database. profiles is a prefix of names of CPU profiles, or ""
// for none.
func start(program, db string, keys, cacheBytes int, profiles string) (*peer, error) {
	p := &peer{command: exec.Command(program, db, strconv.Itoa(keys), strconv.Itoa(cacheBytes), profiles)}
	p.command.Stderr = os.Stderr
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = json.NewDecoder(bufio.NewReader(out))
	return p, p.command.Start()
}

// do has the process do a work.
func (p *peer) do(name string) (f work.Figure, err error) {
	if _, err := fmt.Fprintln(p.in, name); err != nil {
		return f, err
	}
	if err := p.out.Decode(&f); err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	if f.Err != "" {
		return f, fmt.Errorf("%s: %s", name, f.Err)
	}
	return f, nil
}

// end waits until the process has closed its database.
func (p *peer) end() error {
	return errors.Join(p.in.Close(), p.command.Wait())
}
