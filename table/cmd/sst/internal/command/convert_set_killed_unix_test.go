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

// A set gets exceptions from a process that is interrupted or killed, while others add layers. The set is sound all
// along: its manifest is the old one or that of a set with all exceptions, and no layer is lost.
func TestConvertSetKilled(t *testing.T) {
	rounds := 6
	if long.Enabled() {
		rounds = 100
	}
	r := rand.New(rand.NewPCG(31, 12))
	program, parent := filepath.Join(sstInPath(t), "sst"), t.TempDir()
	var keys, good strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&keys, "key%04d\n", i)
		fmt.Fprintf(&good, "key%04d-\n", i)
	}
	input, list := tempFile(t, "keys.txt", keys.String()), tempFile(t, "good.txt", good.String())
	build := func(name string, flags ...string) (dir string) {
		dir = filepath.Join(parent, name)
		mustSST(t, append([]string{"build", "-o", dir, "--set", "--bits", "none", "--table-filter", "table-bloom:4", "--entries-per-table", "100", input}, flags...)...)
		return dir
	}
	excepted := manifestIn(t, build("excepted", "--never", list))
	for round := range rounds {
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
	b := readFile(t, filepath.Join(dir, set.ManifestName))
	return string(b)
}
