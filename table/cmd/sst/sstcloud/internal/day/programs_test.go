package day

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// build builds sst, sieve and the service into a directory, and returns it.
func build(t *testing.T) string {
	t.Helper()
	bin, root := t.TempDir(), filepath.Join("..", "..", "..", "..", "..", "..")
	for _, program := range []struct {
		module, work string
		paths        []string
	}{
		{"table/cmd", "", []string{"./sst", "./sieve"}}, // built with go.work
		{"table/cloud", "off", []string{"./example/service"}},
	} {
		cmd := exec.Command("go", append([]string{"build", "-ldflags=-s -w", "-o", bin + string(filepath.Separator)}, program.paths...)...)
		cmd.Dir = filepath.Join(root, filepath.FromSlash(program.module))
		cmd.Env = append(os.Environ(), "GOWORK="+program.work)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", cmd, err, out)
		}
	}
	return bin
}

// programs runs programs, and kills some of them.
type programs struct {
	t    *testing.T
	rng  *rand.Rand
	took map[string]time.Duration // duration of the last successful run, by program and command
	cuts int                      // number of runs that were killed before their end
}

// run runs a program, and returns its output.
func (p *programs) run(args ...string) (string, error) {
	began := time.Now()
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err == nil {
		p.took[args[0]+args[1]] = time.Since(began)
	}
	return string(out), err
}

// must runs a program that must succeed.
func (p *programs) must(args ...string) string {
	p.t.Helper()
	out, err := p.run(args...)
	if err != nil {
		p.t.Fatalf("%q: %v: %s", args, err, out)
	}
	return out
}

// kill runs a program, and kills it at a random moment, possibly after its end.
func (p *programs) kill(args ...string) {
	p.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	noError(p.t, cmd.Start())
	p.sleep(args[0] + args[1])
	cmd.Process.Kill()
	if cmd.Wait() != nil && cmd.ProcessState.ExitCode() == -1 {
		p.cuts++
	}
}

// sleep sleeps for a random part of the last run's duration.
func (p *programs) sleep(run string) {
	usual, ok := p.took[run]
	if !ok {
		usual = 50 * time.Millisecond
	}
	time.Sleep(time.Duration(p.rng.Float64() * 1.1 * float64(usual)))
}

// mostTries is the number of times that something is tried if faults make it fail.
const mostTries = 1000

// until tries something until it succeeds.
func (p *programs) until(try func() (string, error)) {
	p.t.Helper()
	var out string
	var err error
	for range mostTries {
		if out, err = try(); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.t.Fatalf("after %d tries: %v: %s", mostTries, err, out)
}

// A service is the process that serves the set. It is restarted when it is killed.
type service struct {
	t        *testing.T
	args     []string
	cmd      *exec.Cmd
	base     atomic.Pointer[string] // its URL
	restarts atomic.Int64           // twice the number of restarts, plus one while it is not running
}

// start starts the process, and starts it again if it ends before it serves.
func (s *service) start(p *programs) {
	p.until(func() (string, error) {
		s.cmd = exec.Command(s.args[0], s.args[1:]...)
		out, err := s.cmd.StderrPipe()
		if err != nil {
			return "", err
		}
		if err := s.cmd.Start(); err != nil {
			return "", err
		}
		var printed strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, base, ok := strings.Cut(lines.Text(), "serving on "); ok {
				s.base.Store(&base)
				go io.Copy(os.Stderr, out) // its later output
				return "", nil
			}
			printed.WriteString(lines.Text() + "\n")
		}
		return printed.String(), s.cmd.Wait()
	})
}

// end kills the process.
func (s *service) end() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// restart kills the process, and starts a new one.
func (s *service) restart(p *programs) {
	s.restarts.Add(1)
	s.end()
	s.start(p)
	s.restarts.Add(1)
}
