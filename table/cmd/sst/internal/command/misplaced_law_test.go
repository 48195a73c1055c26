package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// If a table's file is only a part of it or another table, whole or damaged, a repair writes what is left, invents
// nothing, and reports if a pair is not the newest. Pairs that it calls certain are the newest.
func TestFilesThatAreNotTheirTables(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(rounds(150, 5000), 103) {
		d := newLevels(t, rng, filepath.Join(t.TempDir(), "db"), 80)
		what := d.misplace(t)
		scanned, _, _ := sst("scan", d.dir)
		for _, args := range [][]string{{"verify", d.dir}, {"stats", "--tables", d.dir}} {
			if status, out, stderr := sst(args...); scanned == cli.ExitDamaged && status != cli.ExitDamaged {
				t.Fatalf("seed %d, %s: sst scan has status 3, and sst %s %d: %s%s", seed, what, args[0], status, out, stderr)
			}
		}
		for _, option := range []string{"--certain=false", "--certain"} {
			args := []string{"repair", option, d.dir, "-o", filepath.Join(t.TempDir(), "new")}
			status, out, stderr := sst(args...)
			if status != cli.ExitOK && status != cli.ExitDamaged || !strings.Contains(out, "wrote ") && !strings.Contains(out, "no pair to keep") {
				t.Fatalf("seed %d, %s: sst repair %s: status %d, %s%s", seed, what, option, status, out, stderr)
			}
			if diff := d.wrongPairs(args[4], status == cli.ExitDamaged && option != "--certain"); diff != "" {
				t.Fatalf("seed %d, %s: sst repair %s: status %d, %s; %s%s", seed, what, option, status, diff, out, stderr)
			}
			_, kept, _ := sst("scan", args[4])
			if status == cli.ExitOK && len(current(d.writes)) != strings.Count(kept, "\n") {
				t.Fatalf("seed %d, %s: sst repair %s: status 0, and pairs are lost: %s%s", seed, what, option, out, stderr)
			}
		}
	}
}

// misplace replaces a table by another one or a part of one, and may damage it.
func (d *levels) misplace(t *testing.T) (what string) {
	t.Helper()
	if len(d.tables) == 0 {
		return "nothing"
	}
	to, from := d.tables[d.rng.IntN(len(d.tables))], d.tables[d.rng.IntN(len(d.tables))]
	contents := readFile(t, from.path)
	info, err := os.Stat(to.path)
	noError(t, err)
	blocks := layoutOf(t, from.path).Data
	what = fmt.Sprintf("%s in the place of %s", filepath.Base(from.path), filepath.Base(to.path))
	if d.rng.IntN(2) == 0 { // whole blocks, or any bytes
		first := d.rng.IntN(len(blocks))
		last := first + d.rng.IntN(len(blocks)-first)
		from, to := int(blocks[first].Offset), int(blocks[last].Offset+blocks[last].Length)+5
		if d.rng.IntN(3) == 0 {
			from += d.rng.IntN(to - from)
		}
		contents, what = slices.Delete(contents, from, to), fmt.Sprintf("%s, without the bytes from %d to %d", what, from, to)
	}
	if d.rng.IntN(2) == 0 {
		at := d.rng.IntN(len(contents))
		contents[at] ^= byte(1 + d.rng.IntN(255))
		what = fmt.Sprintf("%s, byte %d damaged", what, at)
	}
	if d.rng.IntN(3) == 0 {
		contents, what = append(contents, make([]byte, info.Size())...)[:info.Size()], what+", in its size"
	}
	writeFile(t, to.path, contents)
	return what
}

// wrongPairs describes a pair of a repaired database that was never written or, unless older ones may show, is not
// the newest.
func (d *levels) wrongPairs(dir string, older bool) string {
	_, out, _ := sst("scan", dir)
	newest := current(d.writes)
	for key, value := range pairsOfLines(out) {
		written := slices.ContainsFunc(d.writes, func(w rawEntry) bool { return w.key == key && w.value == value && w.kind == 1 })
		if now, there := newest[key]; !written || !older && (!there || now != value) {
			return fmt.Sprintf("key %s = %q, want %q", key, value, now)
		}
	}
	return ""
}
