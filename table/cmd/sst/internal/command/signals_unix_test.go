//go:build unix

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// feed writes lines, more than a chunk holds and some of them spilled, and then writes slowly until the process ends.
// It calls spilled when some must have been spilled, or none will be.
func feed(w io.WriteCloser, spilled func()) {
	defer spilled()
	large := strings.Repeat("v", 5000)
	for i := 0; ; i++ {
		value := "small"
		if i%10 == 0 {
			value = large
		}
		if _, err := fmt.Fprintf(w, "key%d\t%s\n", i*7919%1_000_003, value); err != nil {
			return
		}
		if i == 100_000 { // 51 MB
			spilled()
		}
		if i > 200_000 {
			time.Sleep(time.Millisecond)
		}
	}
}

// Each signal that ends a program ends a running build, and leaves no file.
func TestSignalsEndBuild(t *testing.T) {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGPIPE}
	if long.Enabled() {
		signals = cli.TerminatingSignals()
	}
	for _, s := range signals {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(s) {
				t.Skip("the process of this test ignores it, and so do those that it starts")
			}
			p := command(t)
			p.Args = append(p.Args, "build", "-o", p.path("t.ldb"), "--temp-dir", p.sorting, "--memory", "32MiB")
			in, err := p.StdinPipe()
			noError(t, err)
			p.start(t)
			spilled, cancel := context.WithCancel(t.Context())
			go feed(in, cancel)
			<-spilled.Done()
			noError(t, p.Process.Signal(s))
			p.checkEnd(t, 128+int(s.(syscall.Signal)), map[bool]string{true: "", false: "sst: interrupted\n"}[s == syscall.SIGPIPE])
		})
	}
}

// A signal that is ignored, as under nohup, does not end a build.
func TestIgnoredSignals(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	p := command(t)
	p.Args = []string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`, p.Path, "build", "-o", p.path("t.ldb")}
	p.Path = "/bin/sh"
	in, err := p.StdinPipe()
	noError(t, err)
	p.start(t)
	noError(t, p.Process.Signal(syscall.SIGHUP))
	time.Sleep(50 * time.Millisecond)
	_, err = io.WriteString(in, "ada\tlovelace\n")
	if err := errors.Join(err, in.Close(), p.Wait()); err != nil {
		t.Errorf("%v, %s", err, &p.stderr)
	}
	mustSST(t, "verify", p.path("t.ldb"))
}

// Other commands that write files leave none either.
func TestSignalsEndOthers(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.ldb")
	mustSST(t, "build", "--sorted", "-o", table, tempFile(t, "lines", numberedLines(long.Size(100_000, 500_000), "key%07[1]d\tvalue %[1]d")))
	for name, args := range map[string][]string{
		"convert": {"convert", table, "-c", "zlib", "-o"},
		"repair":  {"repair", table, "-o"},
		"report":  {"report", table, "--embed", "1GB", "-o"},
	} {
		t.Run(name, func(t *testing.T) {
			for began := time.Now(); !endedBySignal(t, args); {
				if time.Since(began) > hang {
					t.Fatal("no signal has ended it")
				}
			}
		})
	}
}

// endedBySignal sends a signal to a command that writes, and checks how it ends. It returns false if the command had
// already finished, which happens if this process stalls.
func endedBySignal(t *testing.T, args []string) bool {
	t.Helper()
	p := command(t)
	p.Args = append(append(p.Args, args...), p.path("out"))
	p.start(t)
	noError(t, p.Process.Signal(syscall.SIGTERM))
	err := p.Wait()
	if err != nil {
		p.checkEnded(t, err, 128+int(syscall.SIGTERM), "sst: interrupted\n")
	}
	return err != nil
}

// A signal ends a command that is blocked in a write because its output is no longer read.
func TestSignalsEndWhatIsStuck(t *testing.T) {
	p := commandAs(t, "sst")
	p.Args = append(p.Args, "build", "--sorted", "-c", "none", "--input-format", "keys", "-o", "-")
	p.Stdin = strings.NewReader(numberedLines(200_000, "key%015d"))
	p.startPrinting(t)
	time.Sleep(300 * time.Millisecond) // for the pipe to be full
	start := time.Now()
	noError(t, p.Process.Signal(syscall.SIGINT))
	p.checkEnd(t, 128+int(syscall.SIGINT), "sst: interrupted\n")
	t.Logf("ended after %v", time.Since(start))
}

// If its reader goes away, a command ends without a message.
func TestBrokenPipe(t *testing.T) {
	table, lines := filepath.Join(t.TempDir(), "t.ldb"), numberedLines(long.Size(50_000, 200_000), "key%07[1]d\tvalue %[1]d")
	mustSST(t, "build", "--sorted", "-o", table, tempFile(t, "lines", lines))
	for name, args := range map[string][]string{
		"build":   {"build", "-o", "-"},
		"convert": {"convert", table, "-o", "-"},
		"report":  {"report", table, "-o", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			p := command(t)
			p.Args = append(p.Args, args...)
			p.Stdin = strings.NewReader(lines)
			noError(t, p.startPrinting(t).Close())
			p.checkEnd(t, 128+int(syscall.SIGPIPE), "")
		})
	}
	t.Run("scan", func(t *testing.T) { // which has nothing to remove, and ends by the signal
		p := command(t)
		p.Args = append(p.Args, "scan", table)
		noError(t, p.startPrinting(t).Close())
		p.Wait()
		if status, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE || p.stderr.Len() > 0 {
			t.Errorf("%v, %q; want the signal", p.ProcessState, &p.stderr)
		}
	})
}

// startPrinting starts the process, and returns its output after the first byte.
func (p *process) startPrinting(t *testing.T) io.Closer {
	t.Helper()
	out, err := p.StdoutPipe()
	noError(t, err)
	noError(t, p.Start())
	_, err = io.ReadFull(out, make([]byte, 1))
	noError(t, err)
	return out
}
