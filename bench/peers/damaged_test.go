package main

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/long"
)

// call runs the command, which may fail.
func (c sstCommand) call(args ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	cmd := exec.Command(string(c), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return -1, "", err.Error()
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// After any damage to a C++ LevelDB database, the command still outputs all pairs outside of the damage. If it
// outputs an older version of a lost pair, a message says so. The command's own tests do this with goleveldb databases.
func TestDamagedDatabases(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst, e := buildSST(t), levelDBRecoverer(t)
	for seed := range uint64(5) {
		dir := filepath.Join(t.TempDir(), "db")
		e.live(t, dir, false, some(5000, seed))
		s, err := dbdamage.Read(sst.call, dir)
		noError(t, err)
		for _, err := range s.Try(rand.New(rand.NewPCG(seed, 28)), 100, t.TempDir) {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
