package command

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// FuzzCommands runs the commands that read a table on arbitrary bytes. Each exits with a documented status. Tables
// that convert and repair write are sound, and have the entries that scan prints.
func FuzzCommands(f *testing.F) {
	long.NoRace(f)
	for _, contents := range golden.Small(f, goldens, 2<<10) {
		f.Add(contents, uint16(0), byte(1))
		f.Add(contents, uint16(len(contents)/2), byte(0xff))
		f.Add(contents[:len(contents)-1], uint16(3), byte(1))
	}
	f.Add([]byte("some text\n"), uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, contents []byte, at uint16, mask byte) {
		contents = bytes.Clone(contents)
		if int(at) < len(contents) {
			contents[at] ^= mask
		}
		if mask&1 != 0 {
			rawtable.Repair(contents)
		}
		path := filepath.Join(t.TempDir(), "t.ldb")
		writeFile(t, path, contents)
		fuzzCommands(t, path)
	})
}

func fuzzCommands(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Dir(path)
	for _, args := range [][]string{
		{"verify", path}, {"stats", "--json", path}, {"stats", "--try", path}, {"layout", path}, {"get", path, "a", ""}, {"get", "--explain", path, "b"},
		{"scan", "--reverse", path}, {"scan", "-f", "json", path}, {"diff", path, path}, {"manifest", path},
		{"report", path, "-o", filepath.Join(dir, "t.html")},
	} {
		if status, stdout, stderr := sst(args...); status < 0 || status > cli.ExitDamaged {
			t.Errorf("sst %v: status %d\n%s%s", args, status, stdout, stderr)
		}
	}
	scanStatus, scanned, _ := sst("scan", path)
	for _, command := range []string{"convert", "repair"} {
		out := filepath.Join(dir, command+".ldb")
		status, stdout, stderr := sst(command, path, "-o", out)
		if _, err := os.Stat(out); err != nil {
			continue
		}
		if verifyStatus, found, _ := sst("verify", out); verifyStatus != 0 {
			t.Errorf("what %s wrote: %s", command, found)
		}
		if _, again, _ := sst("scan", out); status == 0 && scanStatus == 0 && again != scanned {
			t.Errorf("%s wrote %q, want %q\n%s%s", command, again, scanned, stdout, stderr)
		}
	}
}
