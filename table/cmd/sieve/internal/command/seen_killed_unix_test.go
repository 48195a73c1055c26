//go:build unix

package command

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// savingOften is sieve with a state that is saved continually.
func savingOften() {
	saveEvery = time.Millisecond
	runSieve()
}

// patient is sieve that may take long to end by itself after an interrupt.
func patient() {
	cli.InterruptGrace = 5 * time.Minute
	runSieve()
}

func init() { programs["sieve-saving-often"], programs["sieve-patient"] = savingOften, patient }

// However often sieve seen is killed, it has printed each line in the end, if it gets the input again from any
// place up to the last line that it printed.
func TestSeenIsKilled(t *testing.T) {
	program := scripttest.Link(t, "sieve-saving-often")
	for round := range long.Rounds(3, 30) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(31, uint64(round)))
			k := killing{program: program, state: filepath.Join(t.TempDir(), "s"), in: comingAgain(r), printed: map[string]int{}}
			for range 8 {
				k.run(t, r, syscall.SIGKILL)
			}
			k.run(t, r, nil)
			k.check(t)
			k.checkState(t, r)
		})
	}
}

// A killing is an input that sieve seen reads in several runs.
type killing struct {
	program, state string
	in             []string
	printed        map[string]int // number of times that each line was printed
	last           int            // place in the input of the last line that was printed for the first time
}

// comingAgain returns lines, many of which are repeated.
func comingAgain(r *rand.Rand) []string {
	lines := make([]string, 60_000)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d\n", r.IntN(i/2+1))
	}
	return lines
}

// run gives sieve seen the input from a random place before the last printed line on. If by is not nil, it sends
// this signal after some time.
func (k *killing) run(t *testing.T, r *rand.Rand, by os.Signal) {
	t.Helper()
	from := k.last - r.IntN(min(k.last, 2000)+1)
	cmd := exec.Command(k.program, "seen", "--state", k.state, "-p", "1e-9", "-n", "100k")
	cmd.Stdin = scripttest.Pausing(strings.Join(k.in[from:], ""), time.Duration(r.IntN(30))*time.Millisecond)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	noError(t, cmd.Start())
	if by != nil {
		time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
		cmd.Process.Signal(by) // fails if it has ended
	}
	if err := cmd.Wait(); err != nil && by == nil {
		t.Fatalf("%v, %s", err, &stderr)
	}
	if !k.take(from, stdout.String()) {
		t.Fatalf("lines from %d on: prints lines that are not in the input, or not in its order", from)
	}
}

// take counts the printed lines, of which a kill can tear the last one. It reports whether they are in the input,
// in this order.
func (k *killing) take(from int, printed string) bool {
	at := from
	for line := range strings.Lines(printed) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		i := slices.Index(k.in[at:], line)
		if i < 0 {
			return false
		}
		k.printed[line]++
		at += i
	}
	k.last = max(k.last, at)
	return true
}

// check checks that all lines were printed.
func (k *killing) check(t *testing.T) {
	t.Helper()
	want, got := slices.Compact(slices.Sorted(slices.Values(k.in))), slices.Sorted(maps.Keys(k.printed))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines printed by all runs (-want +got):\n%s", diff)
	}
}

// checkState checks that the state has all lines of runs that were not killed.
func (k *killing) checkState(t *testing.T, r *rand.Rand) {
	t.Helper()
	var before map[string]int
	for range 2 {
		before, k.last = maps.Clone(k.printed), 0
		k.run(t, r, nil)
	}
	if diff := cmp.Diff(before, k.printed); diff != "" {
		t.Errorf("lines printed again (-before +after):\n%s", diff)
	}
}

// On a signal, the state is saved, so no line is printed again. Lines are printed at once.
func TestSeenIsInterrupted(t *testing.T) {
	state := filepath.Join(t.TempDir(), "s")
	p := exec.Command(scripttest.Link(t, "sieve-patient"), "seen", "--state", state)
	var said strings.Builder
	p.Stderr = &said
	in, err := p.StdinPipe()
	noError(t, err)
	out, err := p.StdoutPipe()
	noError(t, err)
	noError(t, p.Start())
	for _, line := range []string{"ada\n", "grace\n"} {
		_, err := in.Write([]byte(line))
		noError(t, err)
		got := make([]byte, len(line))
		if _, err := out.Read(got); err != nil || string(got) != line {
			t.Fatalf("prints %q, %v, want %q while it waits for more", got, err, line)
		}
	}
	status, _, stderr := sieve("seen", "--state", state)
	if want := "another sieve seen is using this state: wait for it to exit, or use another --state\n"; status != cli.ExitUsage || !strings.HasSuffix(stderr, want) {
		t.Errorf("at the same time: status %d, %q, want %q", status, stderr, want)
	}
	noError(t, p.Process.Signal(syscall.SIGTERM))
	if err := p.Wait(); p.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) || said.String() != "sieve: interrupted\n" {
		t.Errorf("%v, %q", err, &said)
	}
	input := filepath.Join(t.TempDir(), "in")
	writeInput(t, input, []string{"grace\n", "alan\n", "ada\n"})
	if got := mustSieve(t, "seen", "--state", state, input); got != "alan\n" {
		t.Errorf("prints %q afterwards, want only alan", got)
	}
}
