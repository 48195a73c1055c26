package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A table whose name is a link that leads nowhere is lost, and the rest of its database is read.
func TestTableIsADanglingLink(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "db")
	mustSST(t, "build", "--database", "--table-size", "1B", "-o", dir, tempFile(t, "lines", "a\t1\nb\t2\nc\t3\n"))
	name := filepath.Join(dir, "000003.ldb") // which has b
	if err := errors.Join(os.Remove(name), os.Symlink("nowhere", name)); err != nil {
		t.Skip(err)
	}
	const what = "a link to a file that does not exist"
	for _, args := range [][]string{{"verify", dir}, {"scan", dir}, {"get", dir, "b"}, {"repair", dir, "-o", dir + ".new"}} {
		status, out, stderr := sst(args...)
		if said := out + stderr; status != cli.ExitDamaged || !strings.Contains(said, what) || strings.Contains(said, "changed while") {
			t.Errorf("%v: status %d, want %d, and that it is %s:\n%s", args, status, cli.ExitDamaged, what, said)
		}
	}
	if got := mustSST(t, "scan", dir+".new"); got != "a\t1\nc\t3\n" {
		t.Errorf("the new database has %q", got)
	}
}
