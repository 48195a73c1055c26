//go:build unix

package setio_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/set"
)

// Several processes build sets from two inputs in one directory at once, and some are killed. As soon as there is a
// manifest, all its tables exist.
func TestManyBuildsInOneDirectory(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 12))
	keys := shuffledURLs(10_000)
	inputs := [][]string{writeFiles(t, 2, keys[:5000]), writeFiles(t, 4, keys)}
	dir := t.TempDir()
	for round := range long.Rounds(1, 10) {
		var all sync.WaitGroup
		for i := range 4 {
			cmd := exec.Command(os.Args[0])
			cmd.Env = childEnv(dir, inputs[r.IntN(2)], 500)
			after := time.Duration(r.IntN(2000)) * time.Millisecond
			all.Go(func() {
				if err := runAndKill(cmd, i < 2, after); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		all.Wait()
		_, err := os.Stat(filepath.Join(dir, set.ManifestName))
		noError(t, err)
		scan(t, dir)
	}
}

// runAndKill runs a build and kills it after that time. If the build ends before, runAndKill returns its error.
func runAndKill(cmd *exec.Cmd, kill bool, after time.Duration) error {
	if !kill {
		return cmd.Run()
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	time.Sleep(after)
	cmd.Process.Kill() // fails if the build has ended
	cmd.Wait()
	return nil
}
