package command

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// A set is folded in place while layers are added to it: none of them is lost.
func TestFoldInPlaceLosesNoLayer(t *testing.T) {
	t.Chdir(t.TempDir())
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "key%06d\n", i)
	}
	if err := os.WriteFile("base.txt", []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	mustSST(t, "build", "--set", "-o", "urls", "--entries-per-table", "500", "base.txt")
	refused := 0
	for i := range 30 {
		name := fmt.Sprintf("new%d", i)
		if err := os.WriteFile(name+".txt", []byte(name+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() {
			if status, _, stderr := sst("build", "--layer-of", "urls", name+".txt"); status != 0 {
				t.Errorf("a layer: status %d, %s", status, stderr)
			}
		})
		both.Go(func() {
			switch status, _, stderr := sst("merge", "--set", "--force", "urls", "-o", "urls"); {
			case status == 2 && strings.Contains(stderr, "urls has changed since it was read: merge it again"):
				refused++
			case status != 0:
				t.Errorf("merge: status %d, %s", status, stderr)
			}
		})
		both.Wait()
		if status, out, stderr := sst("scan", "--count", "urls"); status != 0 || out != fmt.Sprintf("%d\n", 2001+i) {
			t.Fatalf("after %d layers, scan has status %d, %s%s, want %d", i+1, status, out, stderr, 2001+i)
		}
	}
	t.Logf("%d of 30 were refused", refused)
	mustSST(t, "sweep", "--delete", "--age", "0s", "urls")
	mustSST(t, "verify", "urls")
}
