//go:build unix

package command

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A command reads more tables than it may have files open.
func TestMoreInputsThanFiles(t *testing.T) {
	t.Parallel()
	const tables, files = 100, 48
	dir := t.TempDir()
	var want strings.Builder
	for i := range tables {
		line := fmt.Sprintf("key%03d\tvalue %d\n", i, i)
		want.WriteString(line)
		mustSST(t, "build", "-o", filepath.Join(dir, fmt.Sprintf("%03d.ldb", i)), tempFile(t, "in", line))
	}
	for _, args := range []string{
		"merge " + dir + "/*.ldb -o " + t.TempDir() + "/merged.ldb",
		"scan " + dir,
		"verify " + dir,
		"stats --json " + dir + "/*.ldb",
	} {
		p := command(t)
		p.Cmd = exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d; exec %s %s", files, p.Path, args))
		out, err := p.CombinedOutput()
		if err != nil {
			t.Errorf("sst %s with %d open files: %v\n%s", args, files, err, out)
		}
		if strings.HasPrefix(args, "scan") && string(out) != want.String() {
			t.Errorf("sst %s with %d open files prints %d bytes, want %d", args, files, len(out), want.Len())
		}
	}
}
