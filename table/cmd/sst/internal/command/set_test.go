package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// If the manifest of a set is wrong about a table, sst verify says which field is. get and scan notice wrong fields
// that identify the table.
func TestFieldsOfManifestsAreChecked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(l *set.Table)
		said   string
		read   bool // by scan and get too
	}{
		"a smaller first key": {func(l *set.Table) { l.Smallest = []byte("a") }, `first key is "b", but the set's manifest says "a"`, true},
		"a larger first key":  {func(l *set.Table) { l.Smallest = []byte("bb") }, `first key is "b", but the set's manifest says "bb"`, true},
		"a smaller last key":  {func(l *set.Table) { l.Largest = []byte("cc") }, `last key is "d", but the set's manifest says "cc"`, true},
		"a larger last key":   {func(l *set.Table) { l.Largest = []byte("e") }, `last key is "d", but the set's manifest says "e"`, true},
		"a smaller tail":      {func(l *set.Table) { l.TailSize-- }, "tailSize is ", false},
		"a larger tail":       {func(l *set.Table) { l.TailSize++ }, "tailSize is ", false},
		"fewer entries":       {func(l *set.Table) { l.Entries-- }, "entries: 3 in the table, 2 in the manifest", false},
		"more entries":        {func(l *set.Table) { l.Entries++ }, "entries: 3 in the table, 4 in the manifest", false},
		"a smaller size":      {func(l *set.Table) { l.Size-- }, "size is ", true},
		"a larger size":       {func(l *set.Table) { l.Size++ }, "size is ", true},
		"another sum":         {func(l *set.Table) { l.SHA256 = strings.Repeat("0", 64) }, "sha256: ", false},
		"another tail sum":    {func(l *set.Table) { l.TailSum = strings.Repeat("0", 64) }, "tailSum is ", true},
		"nothing":             {func(*set.Table) {}, "", false},
	} {
		for _, removals := range []bool{false, true} {
			s := &layeredSet{dir: t.TempDir(), perTable: 3, versions: map[string][]layerVersion{}}
			s.m.Tables = s.write(t, map[string]string{"x": "1"}, false)
			lines := s.write(t, map[string]string{"b": "", "c": "", "d": ""}, removals)
			if s.m.Layers = []set.Layer{{Tables: lines}}; removals {
				s.m.Layers = []set.Layer{{Removals: lines}}
			}
			tt.change(&lines[0])
			s.writeManifest(t)
			for _, args := range [][]string{{"verify", s.dir}, {"scan", s.dir}, {"get", s.dir, "c"}} {
				want := tt.said != "" && (tt.read || args[0] == "verify")
				status, out, stderr := sst(args...)
				if (status == cli.ExitDamaged) != want || want && !strings.Contains(out+stderr, tt.said) {
					t.Errorf("%s, removals %t: sst %q: status %d, want %q: %s%s", name, removals, args, status, tt.said, out, stderr)
				}
			}
		}
	}
}

// Wherever the manifest of a set is cut short, with or without layers, it is damaged. sst says that the file ends
// within a line exactly if it does. A manifest of a newer version is not damaged.
func TestManifestsOfSetsCutShort(t *testing.T) {
	t.Parallel()
	for layers := range 3 {
		rng := rand.New(rand.NewPCG(uint64(layers), 51))
		s := newLayeredSet(t, rng, layers)
		path := filepath.Join(s.dir, "set.jsonl")
		whole := readFile(t, path)
		first := bytes.IndexByte(whole, '\n')
		for _, size := range []int{1, first, first + 1, len(whole) - 1, 1 + rng.IntN(len(whole)-1), 1 + rng.IntN(len(whole)-1)} {
			writeFile(t, path, whole[:size])
			for _, command := range []string{"scan", "verify"} {
				status, out, stderr := sst(command, s.dir)
				isWithin := strings.Contains(out+stderr, "cut short, as it ends within a line")
				if size == len(whole)-1 && status == cli.ExitOK { // only the newline is missing
					continue
				}
				if status != cli.ExitDamaged || isWithin != (whole[size-1] != '\n') {
					t.Errorf("%d layers, %d of %d bytes: sst %s: status %d, %s%s", layers, size, len(whole), command, status, out, stderr)
				}
			}
		}
		for version := range 6 {
			line := fmt.Sprintf(`{"format":"sievetable-set","version":%d,"tables":7}`, version)
			writeFile(t, path, append([]byte(line), whole[first:]...))
			want := cli.ExitDamaged
			if version > 3 {
				want = cli.ExitUsage
			}
			checkSST(t, want, "", "scan", s.dir)
		}
	}
}

// If a manifest of the tables in a directory is written while a layer is added to the set there, the layer is not
// lost: the manifest is written before it, or not at all.
func TestManifestLosesNoLayer(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "base.txt", "a\nb\n")
	writeFile(t, "new.txt", "c\n")
	for i := range 40 {
		dir := fmt.Sprintf("set%d", i)
		mustSST(t, "build", "--set", "-o", dir, "base.txt")
		table := onlyFile(t, filepath.Join(dir, "*.ldb"))
		var both sync.WaitGroup
		both.Go(func() { sst("manifest", "--force", "-o", filepath.Join(dir, "set.jsonl"), table) })
		layer := 0
		both.Go(func() { layer, _, _ = sst("build", "--layer-of", dir, "new.txt") })
		both.Wait()
		if status, out, stderr := sst("scan", "--count", dir); layer != 0 || status != 0 || out != "3\n" {
			t.Fatalf("layer: status %d; scan: status %d, %s%s; want 3 keys", layer, status, out, stderr)
		}
	}
}

// If two programs write a set to a new directory, one of them fails because the set exists.
func TestNewSetsAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "0.txt", "a\n")
	writeFile(t, "1.txt", "b\n")
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

// If a set is folded in place while layers are added to it, no layer is lost.
func TestFoldInPlaceLosesNoLayer(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "base.txt", numberedLines(2000, "key%06d"))
	mustSST(t, "build", "--set", "-o", "urls", "--entries-per-table", "500", "base.txt")
	refused := 0
	for i := range 30 {
		name := fmt.Sprintf("new%d", i)
		writeFile(t, name+".txt", name+"\n")
		var both sync.WaitGroup
		both.Go(func() { checkSST(t, cli.ExitOK, "", "build", "--layer-of", "urls", name+".txt") })
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

// If a set's filters cannot be read, folding it writes filters of the same kind, not none.
func TestFoldKeepsDamagedFilters(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{"--bits=10": "\nblock filters ", "--bits=none --table-filter=fuse": "\ntable filter "} {
		dir := filepath.Join(t.TempDir(), "set")
		args := append(strings.Fields(flags), tempFile(t, "in.txt", numberedLines(1000, "key%04d")))
		mustSST(t, append([]string{"build", "--set", "-o", dir}, args...)...)
		path := onlyFile(t, filepath.Join(dir, "*.ldb"))
		filters, err := layoutOf(t, path).Meta()
		noError(t, err)
		flipAt(t, path, int64(filters[0].Offset))
		mustSST(t, "merge", dir, "-o", dir+".new/")
		if stats := mustSST(t, "stats", "--tables", dir+".new"); !strings.Contains(stats, want) {
			t.Errorf("%s: no %q in the new set:\n%s", flags, want, stats)
		}
	}
}
