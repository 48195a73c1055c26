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

// ask runs the command, whatever its status is.
func (c sstCommand) ask(args ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	cmd := exec.Command(string(c), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return -1, "", err.Error()
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// Whatever is damaged of a database of C++ LevelDB, the command shows what lies outside, and nothing
// older in the place of what is lost without a message. The tests of the command do this with
// databases of goleveldb.
func TestDamagedDatabases(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst, e := buildSST(t), levelDBRecoverer(t)
	for seed := range uint64(5) {
		dir := filepath.Join(t.TempDir(), "db")
		e.live(t, dir, false, some(5000, seed))
		s, err := dbdamage.Read(sst.ask, dir)
		noError(t, err)
		for _, err := range s.Try(rand.New(rand.NewPCG(seed, 28)), 100, t.TempDir) {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
