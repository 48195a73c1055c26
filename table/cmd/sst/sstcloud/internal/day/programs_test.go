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
		{"table/cmd", "", []string{"./sst", "./sieve"}}, // by go.work
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

// programs runs programs, and kills some.
type programs struct {
	t    *testing.T
	rng  *rand.Rand
	took map[string]time.Duration // of the last run that has ended well, by program and command
	cuts int                      // runs that were killed before their end
}

// run runs a program, and returns what it has printed.
func (p *programs) run(args ...string) (string, error) {
	began := time.Now()
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err == nil {
		p.took[args[0]+args[1]] = time.Since(began)
	}
	return string(out), err
}

// must runs a program that ends well.
func (p *programs) must(args ...string) string {
	p.t.Helper()
	out, err := p.run(args...)
	if err != nil {
		p.t.Fatalf("%q: %v: %s", args, err, out)
	}
	return out
}

// kill runs a program, and kills it at a random moment, also shortly after its end.
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

// sleep sleeps for a random part of what a run has taken before.
func (p *programs) sleep(run string) {
	usual, ok := p.took[run]
	if !ok {
		usual = 50 * time.Millisecond
	}
	time.Sleep(time.Duration(p.rng.Float64() * 1.1 * float64(usual)))
}

// mostTries is how often something is tried that a fault has failed.
const mostTries = 1000

// until tries something until it ends well.
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

// A service is the process that answers for the set, and is started again when it is killed.
type service struct {
	t        *testing.T
	args     []string
	cmd      *exec.Cmd
	base     atomic.Pointer[string] // its URL
	restarts atomic.Int64           // twice their number, and one more while it is not there
}

// start starts the process, again if it ends before it serves.
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
				go io.Copy(os.Stderr, out) // what it prints later
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

// restart kills the process, and starts another one.
func (s *service) restart(p *programs) {
	s.restarts.Add(1)
	s.end()
	s.start(p)
	s.restarts.Add(1)
}
