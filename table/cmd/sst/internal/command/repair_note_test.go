package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
)

// goleveldb's repair drops tables of compressions that it does not know, as the note says, and keeps
// those that have no note.
func TestNotRepaired(t *testing.T) {
	for name := range compressions {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.tsv"), filepath.Join(dir, "db", "000005.ldb")
		var lines []string
		for i := range 500 {
			lines = append(lines, fmt.Sprintf("key%03d\t3\tset\tvalue value value %d\n", i, i))
		}
		writeFile(t, in, strings.Join(lines, ""))
		if err := os.Mkdir(filepath.Dir(out), 0o777); err != nil {
			t.Fatal(err)
		}
		status, _, stderr := sst("build", "--internal-keys=yes", "-c", name, "-o", out, in)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", name, status, stderr)
		}
		got, err := entriesOf(leveldb.RecoverFile(filepath.Dir(out), nil))
		if err != nil {
			t.Fatal(err)
		}
		want := len(lines)
		if strings.Contains(stderr, "silently") {
			want = 0
		}
		if len(got) != want || notRepaired[name] != "" && want > 0 {
			t.Errorf("%s: %d entries after the repair, want %d; %s", name, len(got), want, stderr)
		}
	}
}
