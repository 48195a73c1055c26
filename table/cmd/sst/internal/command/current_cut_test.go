package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A CURRENT that is cut within the name of the MANIFEST is at fault itself, and not the MANIFEST of the shorter name,
// which never was. It is said once.
func TestCutCurrent(t *testing.T) {
	t.Parallel()
	sound := writeSmall(t)
	current := readFile(t, filepath.Join(sound, "CURRENT"))
	for n := len("MANIFEST-0"); n < len(strings.TrimSpace(string(current))); n++ {
		dir := copyOf(t, sound)
		noError(t, os.Truncate(filepath.Join(dir, "CURRENT"), int64(n)))
		for _, command := range databaseCommands {
			checkMessages(t, sound, dir, "CURRENT", "truncated", command)
		}
	}
}

// With --strict, damage of the state of a database ends a command before it prints anything.
func TestStrictStates(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"CURRENT", "MANIFEST-*"} {
		dir := writeSmall(t)
		name := onlyFile(t, filepath.Join(dir, file))
		noError(t, os.Remove(name))
		for _, args := range [][]string{{"get", "--strict", dir, "a0007"}, {"scan", "--strict", dir}, {"diff", "--strict", dir, dir}} {
			if status, stdout, stderr := sst(args...); status != cli.ExitDamaged || stdout != "" || !strings.Contains(stderr, filepath.Base(name)) {
				t.Errorf("without %s: %v: status %d, %q, %q", file, args, status, stdout, stderr)
			}
		}
	}
}
