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
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/set"
)

// Several processes build sets of a few inputs in one directory at once, and some of them are interrupted or killed.
// At any time, the manifest, if there is one, and all its tables verify.
func TestBuildsKilledInOneDirectory(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 12))
	inputs, sst, parent := randomInputs(r), scripttest.Link(t, "sst"), t.TempDir()
	for round := range rounds(5, 100) {
		out := filepath.Join(parent, fmt.Sprint(round/5)) // five rounds in each directory
		var all sync.WaitGroup
		for range 2 + r.IntN(4) {
			in := scripttest.Pausing(pick(r, inputs...), time.Duration(r.IntN(40))*time.Millisecond)
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

// Several processes add layers to a set at once, and some of them are interrupted or killed. At any time the set is
// sound, and has the layers of all builds that succeeded.
func TestLayersKilled(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 12))
	sst, dir := scripttest.Link(t, "sst"), filepath.Join(t.TempDir(), "set")
	mustSST(t, "build", "-o", dir, "--entries-per-table", "50", "--input-format", "raw-keys", tempFile(t, "base", strings.Join(randomInputs(r), "")), "--on-duplicate", "first")
	builds := 0
	for range rounds(3, 60) {
		var all sync.WaitGroup
		cmds := map[string]*exec.Cmd{}
		for range 2 + r.IntN(4) {
			builds++
			lines := fmt.Sprintf("layer%d begins\nlayer%d goes on\n", builds, builds)
			in := scripttest.Pausing(lines, time.Duration(r.IntN(40))*time.Millisecond)
			cmd := exec.Command(sst, "build", "--layer-of", dir, "--input-format", "raw-keys")
			cmd.Stdin = in
			after, by := time.Duration(r.IntN(60))*time.Millisecond, pick[os.Signal](r, syscall.SIGKILL, syscall.SIGTERM, nil, nil)
			cmds[fmt.Sprintf("layer%d", builds)] = cmd
			all.Go(func() { runAndSignal(t, cmd, after, by) })
		}
		checkSetIfAny(t, dir) // while they run
		all.Wait()
		checkSetIfAny(t, dir)
		for name, cmd := range cmds {
			checkLayerOf(t, dir, name, cmd.ProcessState.Success())
		}
	}
}

// checkLayerOf checks that the set has both keys of a build that succeeded, and both or none of another.
func checkLayerOf(t *testing.T, dir, name string, ended bool) {
	begins, _, stderr := sst("get", dir, name+" begins")
	goesOn, _, _ := sst("get", dir, name+" goes on")
	if begins != goesOn || ended && begins != 0 {
		t.Errorf("get of the keys of %s: status %d and %d, %s; the build ended well: %v", name, begins, goesOn, stderr, ended)
	}
}

// A process that adds exceptions to a set is interrupted or killed, while others add layers. The set is always sound:
// it has no exceptions or all of them, and no layer is lost.
func TestConvertSetKilled(t *testing.T) {
	long.NoRace(t)
	r := rand.New(rand.NewPCG(31, 12))
	program, parent := scripttest.Link(t, "sst"), t.TempDir()
	input, list := tempFile(t, "keys.txt", numberedLines(2000, "key%04d")), tempFile(t, "good.txt", numberedLines(2000, "key%04d-"))
	build := func(name string, flags ...string) (dir string) {
		dir = filepath.Join(parent, name)
		mustSST(t, append([]string{"build", "-o", dir, "--set", "--bits", "none", "--table-filter", "table-bloom:4", "--entries-per-table", "100", input}, flags...)...)
		return dir
	}
	excepted := manifestIn(t, build("excepted", "--never", list))
	for round := range rounds(6, 100) {
		dir := build(fmt.Sprint(round))
		old := manifestIn(t, dir)
		convert, layer := exec.Command(program, "convert", dir, "--never", list), exec.Command(program, "build", "--layer-of", dir, "--input-format", "raw-keys")
		layer.Stdin = strings.NewReader("layer\n")
		after, by, withLayer := time.Duration(r.IntN(120))*time.Millisecond, pick[os.Signal](r, syscall.SIGKILL, syscall.SIGTERM), round%2 == 1
		var all sync.WaitGroup
		all.Go(func() { runAndSignal(t, convert, after, by) })
		if withLayer {
			all.Go(func() { runAndSignal(t, layer, 0, nil) })
		}
		checkSetIfAny(t, dir) // while they run
		all.Wait()
		checkSetIfAny(t, dir)
		mustSST(t, "get", "--keys-from", input, dir)
		if withLayer {
			mustSST(t, "get", dir, "layer")
		} else if now := manifestIn(t, dir); now != old && now != excepted {
			t.Errorf("round %d: another manifest:\n%s", round, now)
		}
		mustSST(t, "convert", dir, "--never", list)
		mustSST(t, "sweep", "--delete", "--age", "0", dir)
		checkSetIfAny(t, dir)
		if now := manifestIn(t, dir); !withLayer && now != excepted {
			t.Errorf("round %d: another manifest after all:\n%s", round, now)
		}
	}
}

// manifestIn returns the manifest of a set.
func manifestIn(t *testing.T, dir string) string {
	t.Helper()
	return string(readFile(t, filepath.Join(dir, set.ManifestName)))
}
