package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// A missing or damaged table of a layer or of removals affects only the keys in its range. It never makes an older
// entry, or one that it removes, the answer.
func TestDamagedLayers(t *testing.T) {
	n := rounds(6, 45)
	if long.Race && !long.Enabled() {
		n = 2
	}
	rng := rand.New(rand.NewPCG(1, 42))
	for round := range n {
		s := newLayeredSet(t, rng, 1+rng.IntN(3))
		var tables []set.Table
		for table := range s.m.All() {
			tables = append(tables, *table)
		}
		lost := tables[rng.IntN(len(tables))]
		damageTable(t, rng, filepath.Join(s.dir, lost.Name), round%4)
		checkLostScan(t, s, lost)
		checkLostGets(t, rng, s, lost)
		for _, args := range [][]string{{"verify", s.dir}, {"stats", "--tables", s.dir}, {"merge", s.dir, "-o", filepath.Join(t.TempDir(), "new")}} {
			checkSST(t, cli.ExitDamaged, "", args...)
		}
		if t.Failed() {
			t.Fatalf("round %d, table %s of %+v", round, lost.Name, s.m)
		}
	}
}

// damageTable removes a table, truncates it, empties it, or changes a byte of its first data block.
func damageTable(t *testing.T, rng *rand.Rand, path string, how int) {
	t.Helper()
	switch contents := readFile(t, path); how {
	case 0:
		noError(t, os.Remove(path))
	case 1:
		noError(t, os.Truncate(path, rng.Int64N(int64(len(contents)))))
	case 2:
		noError(t, os.Truncate(path, 0))
	default:
		flipAt(t, path, 0)
	}
}

// mayBeLost reports whether a key is in the range of a table.
func mayBeLost(key string, lost set.Table) bool {
	return key >= string(lost.Smallest) && key <= string(lost.Largest)
}

// checkLostScan checks the pairs that a scan prints outside the lost range, and its messages about that range.
func checkLostScan(t *testing.T, s *layeredSet, lost set.Table) {
	t.Helper()
	status, out, stderr := sst("scan", s.dir)
	printed := pairsOfLines(out)
	for key, all := range s.versions {
		value, found := printed[key]
		isVersion := slices.ContainsFunc(all, func(v layerVersion) bool { return v.value == value })
		right := found == !all[0].removed && (!found || value == all[0].value)
		if !right && !(mayBeLost(key, lost) && (!found || isVersion)) {
			t.Errorf("scan prints %q of key %s, found %v, want the newest of %+v", value, key, found, all)
		}
	}
	said := strings.Contains(stderr, lost.Name+": lost the keys ") && strings.Contains(stderr, fmt.Sprintf("≥ %s", format.Quote(lost.Smallest))) &&
		strings.Contains(stderr, "the output may contain older or deleted versions of these keys")
	if status != 3 || !said {
		t.Errorf("scan: status %d, %s; want 3, and the keys from %s on as lost", status, stderr, lost.Smallest)
	}
}

// checkLostGets checks lookups. A key has an answer if no newer entry can be lost, or if the block that could contain
// it is sound.
func checkLostGets(t *testing.T, rng *rand.Rand, s *layeredSet, lost set.Table) {
	t.Helper()
	unknown := 0
	for i := range 40 {
		key := layeredKey(rng.IntN(layeredKeys))
		if i == 0 {
			key = string(lost.Smallest)
		}
		all := s.versions[key]
		certain := !mayBeLost(key, lost) || len(all) > 0 && s.rank(all[0].file) > s.rank(lost.Name)
		want, wantStatus := "", 1
		if len(all) > 0 && !all[0].removed {
			want, wantStatus = all[0].value+"\n", 0
		}
		status, out, stderr := sst("get", s.dir, key)
		switch {
		case status == 3 && !certain:
			unknown++
			if !strings.Contains(stderr, lost.Name) || !strings.Contains(stderr, "whether the key exists is unknown") && !strings.Contains(stderr, "a version of the key was found, but a newer one or its deletion may be lost") {
				t.Errorf("get %s: %s", key, stderr)
			}
		case status != wantStatus || out != want:
			t.Errorf("get %s: status %d, %q, %s; want %d, %q", key, status, out, stderr, wantStatus, want)
		}
	}
	if all := s.versions[string(lost.Smallest)]; unknown == 0 && s.rank(all[0].file) <= s.rank(lost.Name) {
		t.Error("no key is unknown, want the first one of the table")
	}
}

// rank returns how new a table is.
func (s *layeredSet) rank(file string) int {
	runs := [][]set.Table{s.m.Tables}
	for _, l := range s.m.Layers {
		runs = append(runs, l.Removals, l.Tables)
	}
	return slices.IndexFunc(runs, func(run []set.Table) bool {
		return slices.ContainsFunc(run, func(t set.Table) bool { return t.Name == file })
	})
}
