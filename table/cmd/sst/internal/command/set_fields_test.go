package command

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// Whatever the manifest of a set says of a table that is not true: sst verify says which field it is. Get and scan
// notice what tells the table apart from others, also without a tailSum.
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
		for _, withSum := range []bool{true, false} {
			for _, removals := range []bool{false, true} {
				s := &layeredSet{dir: t.TempDir(), perTable: 3, versions: map[string][]layerVersion{}}
				s.m.Tables = s.write(t, map[string]string{"x": "1"}, false)
				lines := s.write(t, map[string]string{"b": "", "c": "", "d": ""}, removals)
				if s.m.Layers = []set.Layer{{Tables: lines}}; removals {
					s.m.Layers = []set.Layer{{Removals: lines}}
				}
				if !withSum {
					lines[0].TailSum = ""
				}
				tt.change(&lines[0])
				s.writeManifest(t)
				for _, args := range [][]string{{"verify", s.dir}, {"scan", s.dir}, {"get", s.dir, "c"}} {
					want := tt.said != "" && (tt.read || args[0] == "verify")
					status, out, stderr := sst(args...)
					if (status == cli.ExitDamaged) != want || want && !strings.Contains(out+stderr, tt.said) {
						t.Errorf("%s, sum %t, removals %t: sst %q: status %d, want %q: %s%s", name, withSum, removals, args, status, tt.said, out, stderr)
					}
				}
			}
		}
	}
}
