package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A manifest is written of the tables in a directory while layers are added to the set there: one of both fails, or
// comes first.
func TestManifestLosesNoLayer(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, contents := range map[string]string{"base.txt": "a\nb\n", "new.txt": "c\n"} {
		writeFile(t, name, contents)
	}
	for i := range 40 {
		dir := fmt.Sprintf("set%d", i)
		mustSST(t, "build", "--set", "-o", dir, "base.txt")
		tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() {
			sst(append([]string{"manifest", "--force", "-o", filepath.Join(dir, "set.jsonl")}, tables...)...)
		})
		layer := 0
		both.Go(func() { layer, _, _ = sst("build", "--layer-of", dir, "new.txt") })
		both.Wait()
		if status, out, stderr := sst("scan", "--count", dir); layer != 0 || status != 0 || out != "3\n" {
			t.Fatalf("layer: status %d; scan: status %d, %s%s; want 3 keys", layer, status, out, stderr)
		}
	}
}

// Of two programs that write a set to a new directory, one is told that the other was there.
func TestNewSetsAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, contents := range map[string]string{"0.txt": "a\n", "1.txt": "b\n"} {
		writeFile(t, name, contents)
	}
	for i := range 40 {
		dir := fmt.Sprintf("set%d", i)
		var both sync.WaitGroup
		var status [2]int
		for w := range status {
			both.Go(func() { status[w], _, _ = sst("build", "--set", "-o", dir, fmt.Sprintf("%d.txt", w)) })
		}
		both.Wait()
		if status != [2]int{0, 2} && status != [2]int{2, 0} {
			t.Fatalf("statuses %v, want 0 and 2", status)
		}
	}
}

// A set is folded in place while layers are added to it: none of them is lost.
func TestFoldInPlaceLosesNoLayer(t *testing.T) {
	t.Chdir(t.TempDir())
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "key%06d\n", i)
	}
	writeFile(t, "base.txt", lines.String())
	mustSST(t, "build", "--set", "-o", "urls", "--entries-per-table", "500", "base.txt")
	refused := 0
	for i := range 30 {
		name := fmt.Sprintf("new%d", i)
		writeFile(t, name+".txt", name+"\n")
		var both sync.WaitGroup
		both.Go(func() {
			if status, _, stderr := sst("build", "--layer-of", "urls", name+".txt"); status != 0 {
				t.Errorf("a layer: status %d, %s", status, stderr)
			}
		})
		both.Go(func() {
			input := []string{"urls", "urls/", "urls/set.jsonl"}[i%3]
			switch status, _, stderr := sst("merge", "--set", "--force", input, "-o", "urls"); {
			case status == 2 && strings.Contains(stderr, "urls changed after it was read: run the command again"):
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
