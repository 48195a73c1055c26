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
)

// Several processes add layers to a set at once, and some of them are interrupted or killed. At any
// time the set is sound, and it has the layers of all that have ended well.
func TestLayersKilled(t *testing.T) {
	rounds := 3
	if long.Enabled() {
		rounds = 60
	}
	r := rand.New(rand.NewPCG(29, 12))
	sst, dir := filepath.Join(sstInPath(t), "sst"), filepath.Join(t.TempDir(), "set")
	mustSST(t, "build", "-o", dir, "--entries-per-table", "50", "--input-format", "raw-keys", tempFile(t, "base", strings.Join(randomInputs(r), "")), "--on-duplicate", "first")
	builds := 0
	for range rounds {
		var all sync.WaitGroup
		cmds := map[string]*exec.Cmd{}
		for range 2 + r.IntN(4) {
			builds++
			lines := fmt.Sprintf("layer%d begins\nlayer%d goes on\n", builds, builds)
			in := &pausingReader{strings.NewReader(lines), time.Duration(r.IntN(40)) * time.Millisecond}
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

// checkLayerOf checks that the set has both keys of a build that has ended well, and both or none of
// another.
func checkLayerOf(t *testing.T, dir, name string, ended bool) {
	begins, _, stderr := sst("get", dir, name+" begins")
	goesOn, _, _ := sst("get", dir, name+" goes on")
	if begins != goesOn || ended && begins != 0 {
		t.Errorf("get of the keys of %s: status %d and %d, %s; the build ended well: %v", name, begins, goesOn, stderr, ended)
	}
}
