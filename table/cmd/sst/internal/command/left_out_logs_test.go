package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// For a repair, a log that is missing or left out is damage. For other commands, only a missing log is, unless they
// leave it out. Leaving out an empty log is no damage.
func TestLeftOutLogs(t *testing.T) {
	t.Parallel()
	const (
		missing  = "000002.log: missing (named in MANIFEST-000000): the writes in it are lost, and older or deleted versions may appear. Restore it if you can\n"
		obsolete = "000002.log: missing (named in MANIFEST-000000, which is cut short: the log may be obsolete): the writes in it may be lost, and older or deleted versions may appear. Restore it if you can\n"
		leftOut  = "--no-log skips 000002.log: older or deleted versions may appear"
	)
	for _, tt := range []struct {
		log  string // its state
		torn bool   // the MANIFEST
		args string
		said string // "": the status is 0
	}{
		{"missing", false, "scan", missing},
		{"missing", false, "scan --no-log", ""},
		{"missing", false, "repair", missing},
		{"missing", false, "repair --no-log", missing},
		{"missing", true, "scan", obsolete},
		{"missing", true, "scan --no-log", ""},
		{"missing", true, "repair", obsolete},
		{"empty", false, "scan", ""},
		{"empty", false, "scan --no-log", ""},
		{"empty", false, "repair", ""},
		{"empty", false, "repair --no-log", ""},
		{"sound", false, "scan", ""},
		{"sound", false, "scan --no-log", ""},
		{"sound", false, "repair", ""},
		{"sound", false, "repair --no-log", leftOut},
	} {
		dir := writeWithLog(t, tt.log, tt.torn)
		args := append(strings.Fields(tt.args), dir)
		if args[0] == "repair" {
			args = append(args, "-o", dir+".new")
		}
		status, out, stderr := sst(args...)
		want := cli.ExitDamaged
		if tt.said == "" {
			want = cli.ExitOK
		}
		if status != want || !strings.Contains(stderr, tt.said) || want == cli.ExitOK && strings.Contains(stderr, "may appear") {
			t.Errorf("log %s, MANIFEST cut %t: sst %s: status %d, want %d, and %q\n%s%s", tt.log, tt.torn, tt.args, status, want, tt.said, out, stderr)
		}
	}
}

// writeWithLog writes a database with a table and a log that is missing, empty or sound. If torn is true, the end of
// its MANIFEST is cut off.
func writeWithLog(t *testing.T, state string, torn bool) (dir string) {
	t.Helper()
	d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
	d.table(t, 1, 1, []rawEntry{{"a", 1, 1, "1"}}, nil)
	d.log(t, []rawEntry{{"b", 2, 1, "2"}})
	d.nameLog(versions.FieldLog, d.number)
	d.last = 1
	d.end(t)
	log, manifest := filepath.Join(d.dir, "000002.log"), filepath.Join(d.dir, "MANIFEST-000000")
	switch state {
	case "missing":
		noError(t, os.Remove(log))
	case "empty":
		noError(t, os.Truncate(log, 0))
	}
	if torn {
		d.write(t, "MANIFEST-000000", append(readFile(t, manifest), tornEdit...))
	}
	return d.dir
}
