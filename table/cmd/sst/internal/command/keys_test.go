package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// get looks up any number of keys in batches, and prints the answers in the order of the keys.
func TestKeysInBatches(t *testing.T) {
	long.NoRace(t)
	t.Chdir(t.TempDir())
	var keys, want strings.Builder
	for i := range 2*cli.MaxBatchKeys + 10 {
		fmt.Fprintf(&keys, "key%d\n", i)
		if i%1000 == 0 {
			fmt.Fprintf(&want, "key%d\t\n", i)
		}
	}
	for name, contents := range map[string]string{"keys.txt": keys.String(), "in.tsv": want.String(), "long.txt": strings.Repeat("k", memory.Limit(0).MaxPair()+1)} {
		writeFile(t, name, contents)
	}
	mustSST(t, "build", "-o", "t.ldb", "in.tsv")
	status, got, stderr := sst("get", "--keys-from", "keys.txt", "t.ldb")
	if status != cli.ExitNegative || got != want.String() {
		t.Errorf("status %d, %d answers, want %d: %s", status, strings.Count(got, "\n"), strings.Count(want.String(), "\n"), stderr)
	}
	checkSST(t, cli.ExitUsage, "long.txt, line 1: longer than the limit of 69206016 bytes\n", "get", "--keys-from", "long.txt", "t.ldb")
}

// If many keys cannot be read, the first ones are named and the others counted. After maxUnreadKeys keys, a new cause
// is still named, so no damaged file is left out.
func TestUnreadKeysAreNamed(t *testing.T) {
	t.Parallel()
	var l lookups
	damage := func(file string) error { return fmt.Errorf("%s: %w", file, table.ErrCorrupt) }
	for i := range 2 * maxUnreadKeys {
		l.addDamage(fmt.Append(nil, i), damage("a.ldb"))
	}
	l.addDamage([]byte("last"), damage("b.ldb"))
	l.addDamage([]byte("again"), damage("b.ldb"))
	lines := text.Lines(l.failure())
	want := []string{`key "last": b.ldb: table: corrupt`, "11 other keys cannot be read either"}
	if diff := cmp.Diff(want, lines[maxUnreadKeys:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
