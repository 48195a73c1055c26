package command

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// If an earlier version made a state overfull, each run prints a note, even after the state was saved. Other
// states have no note.
func TestSeenNotesOverfullStates(t *testing.T) {
	t.Parallel()
	note := regexp.MustCompile(`^sieve: note: .+ is overfull and leaves out 28\.\d % of new lines: start another --state\n$`)
	for name, want := range map[string]*regexp.Regexp{"overfull": note, "full": regexp.MustCompile("^$")} {
		contents, err := os.ReadFile("../seen/testdata/" + name + ".state")
		noError(t, err)
		state, in := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "in")
		writeInput(t, state, []string{string(contents)})
		for _, line := range []string{"line 1\n", "a\nb\nc\nd\n", "a\n"} {
			writeInput(t, in, []string{line})
			if status, _, stderr := sieve("seen", "--state", state, in); status != 0 || !want.MatchString(stderr) {
				t.Errorf("%s: status %d, %q, want %s", name, status, stderr, want)
			}
		}
	}
}
