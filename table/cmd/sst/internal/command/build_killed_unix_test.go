//go:build unix

package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/set"
)

// Several processes build sets of a few inputs in one directory at once, and some of them are
// interrupted or killed. Whenever there is a manifest, it and all its tables verify.
func TestBuildsKilledInOneDirectory(t *testing.T) {
	rounds := 5
	if long.Enabled() {
		rounds = 100
	}
	r := rand.New(rand.NewPCG(28, 12))
	inputs, sst, parent := randomInputs(r), filepath.Join(sstInPath(t), "sst"), t.TempDir()
	for round := range rounds {
		out := filepath.Join(parent, fmt.Sprint(round/5)) // five rounds in each directory
		var all sync.WaitGroup
		for range 2 + r.IntN(4) {
			in := &pausingReader{strings.NewReader(pick(r, inputs...)), time.Duration(r.IntN(40)) * time.Millisecond}
			cmd := exec.Command(sst, "build", "--force", "-o", out, "--sorted", "--entries-per-table", "50", "--input-format", "raw-keys")
			cmd.Stdin = in
			after, by := time.Duration(r.IntN(60))*time.Millisecond, pick[os.Signal](r, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGTERM, nil)
			all.Go(func() { runAndSignal(t, cmd, after, by) })
		}
		checkSetIfAny(t, out) // while they run
		all.Wait()
		checkSetIfAny(t, out)
	}
}

// checkSetIfAny verifies the set in a directory, if it has a manifest.
func checkSetIfAny(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, set.ManifestName)); err == nil {
		mustSST(t, "verify", dir)
	}
}

// randomInputs returns two inputs of sorted keys. They begin with the same keys.
func randomInputs(r *rand.Rand) (inputs []string) {
	for range 2 {
		var lines strings.Builder
		for n := range 1000 {
			if n < 500 || r.IntN(3) == 0 {
				fmt.Fprintf(&lines, "key%04d\n", n)
			}
		}
		inputs = append(inputs, lines.String())
	}
	return inputs
}

// A pausingReader pauses once when half of its input is read.
type pausingReader struct {
	in    *strings.Reader
	pause time.Duration
}

func (p *pausingReader) Read(b []byte) (int, error) {
	half := p.in.Len() - int(p.in.Size()/2)
	if half <= 0 {
		time.Sleep(p.pause)
		p.pause, half = 0, len(b)
	}
	return p.in.Read(b[:min(half, len(b))])
}

// runAndSignal runs a build, and sends it the signal, if any, after that time. A build without a
// signal succeeds.
func runAndSignal(t *testing.T, cmd *exec.Cmd, after time.Duration, by os.Signal) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	if by != nil {
		time.Sleep(after)
		cmd.Process.Signal(by) // fails if the build has ended
	}
	if err := cmd.Wait(); err != nil && by == nil {
		t.Errorf("%v, %s", err, &stderr)
	}
}
