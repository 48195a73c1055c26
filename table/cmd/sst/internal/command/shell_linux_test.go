package command

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// A shell is an interactive shell on a terminal.
type shell struct {
	t        *testing.T
	terminal *os.File
	lines    *bufio.Scanner
}

// startShell starts a shell whose home and directory are dir. If the shell is not installed, it skips the test,
// unless SIEVETABLE_SHELLS is "required".
func startShell(t *testing.T, dir, name string, args ...string) *shell {
	t.Helper()
	long.NoRace(t) // every TAB starts a process
	cmd := exec.Command(name, args...)
	if cmd.Err != nil && os.Getenv("SIEVETABLE_SHELLS") != "required" {
		t.Skip(cmd.Err)
	}
	master, slave := scripttest.Terminal(t)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, slave, slave, slave
	cmd.Env = append(os.Environ(), "PATH="+sstInPath(t)+":"+os.Getenv("PATH"), "HOME="+dir, "TERM=dumb", "INPUTRC=/dev/null", "PS1=", "DB=db", "ZDOTDIR="+dir, "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	noError(t, cmd.Start())
	slave.Close()
	stuck := time.AfterFunc(hang, func() { cmd.Process.Kill() }) // ends awaiting
	t.Cleanup(func() {
		stuck.Stop()
		cmd.Process.Kill()
		cmd.Wait()
	})
	s := &shell{t, master, bufio.NewScanner(master)}
	s.typed("") // its configuration says that it is ready
	return s
}

// typed types keys and returns what the shell then prints between ‹ and ›.
func (s *shell) typed(keys string) string {
	s.t.Helper()
	if _, err := s.terminal.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
	for s.lines.Scan() {
		if _, after, ok := strings.Cut(s.lines.Text(), "‹"); ok {
			if answer, _, ok := strings.Cut(after, "›"); ok {
				return answer
			}
		}
	}
	s.t.Fatalf("the shell ended when %q was typed: %v", keys, s.lines.Err())
	return ""
}
