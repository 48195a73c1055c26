package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// All commands show the layers of a set combined.
func TestCommandsOverLayers(t *testing.T) {
	n := rounds(3, 20)
	if long.Race && !long.Enabled() {
		n = 2
	}
	rng := rand.New(rand.NewPCG(1, 41))
	for round := range n {
		s := newLayeredSet(t, rng, round%4)
		live := s.live()
		checkScansOfLayers(t, s, live)
		checkGetsOfLayers(t, rng, s, live)
		checkStatsOfLayers(t, s, live)
		checkMergesOfLayers(t, rng, s, live)
		if out := mustSST(t, "verify", s.dir); strings.Count(out, ": ok") != len(s.files())+1 {
			t.Errorf("verify prints %s, want %d tables and the manifest to be ok", out, len(s.files()))
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// checkPrints checks that sst prints want.
func checkPrints(t *testing.T, want string, args ...string) {
	t.Helper()
	status, out, stderr := sst(args...)
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(out, "\n")); status != 0 || diff != "" {
		t.Errorf("sst %q: status %d, %s (-want +got):\n%.2000s", args, status, stderr, diff)
	}
}

func checkScansOfLayers(t *testing.T, s *layeredSet, live map[string]string) {
	t.Helper()
	checkPrints(t, linesOfPairs(live), "scan", s.dir)
	offsets := regexp.MustCompile(`\t-\t[0-9]+\t`)
	where := offsets.ReplaceAllString(mustSST(t, "scan", "--where", s.dir), "\t-\t")
	if diff := cmp.Diff(strings.Split(s.whereLines(), "\n"), strings.Split(where, "\n")); diff != "" {
		t.Errorf("scan --where (-want +got):\n%.2000s", diff)
	}
}

func checkGetsOfLayers(t *testing.T, rng *rand.Rand, s *layeredSet, live map[string]string) {
	t.Helper()
	list := tempFile(t, "keys", numberedLines(layeredKeys+2, "%03d"))
	status, out, stderr := sst("get", "--keys-from", list, s.dir)
	if diff := cmp.Diff(strings.Split(linesOfPairs(live), "\n"), strings.Split(out, "\n")); status != 1 || diff != "" {
		t.Errorf("get --keys-from: status %d, %s (-want +got):\n%.2000s", status, stderr, diff)
	}
	for range 20 {
		key := layeredKey(rng.IntN(layeredKeys))
		value, found := live[key]
		want, answer, wantStatus := value+"\n", fmt.Sprintf("found: %s, %s\n", text.Bytes(uint64(len(value))), value), 0
		if !found {
			want, answer, wantStatus = "", "absent", 1
		}
		if status, out, stderr := sst("get", s.dir, key); status != wantStatus || out != want {
			t.Errorf("get %s: status %d, %q, %s; want %d and %q", key, status, out, stderr, wantStatus, want)
		}
		_, out, _ := sst("get", "--explain", s.dir, key)
		last := out[strings.LastIndex(strings.TrimSuffix(out, "\n"), "\n")+1:]
		if !strings.HasPrefix(last, answer) {
			t.Errorf("get --explain %s ends with %q, want %q", key, last, answer)
		}
	}
}

func checkStatsOfLayers(t *testing.T, s *layeredSet, live map[string]string) {
	t.Helper()
	var want, got struct{ Tables, Entries, Layers, Added, Removals uint64 }
	for table := range s.m.All() {
		want.Tables++
		want.Entries += table.Entries
	}
	for _, l := range s.m.Layers {
		for _, table := range l.Tables {
			want.Added += table.Entries
		}
		for _, table := range l.Removals {
			want.Removals += table.Entries
		}
	}
	all := want.Entries
	want.Entries, want.Layers = all-want.Added-want.Removals, uint64(len(s.m.Layers))
	if err := json.Unmarshal([]byte(mustSST(t, "stats", "--json", s.dir)), &got); err != nil || got != want {
		t.Errorf("stats: %v, %+v, want %+v", err, got, want)
	}
	mustSST(t, "stats", s.dir)
	mustSST(t, "stats", "--try", s.dir)
	if n := strings.Count(mustSST(t, "stats", "--tables", s.dir), "file "); n != int(want.Tables) {
		t.Errorf("stats of %d tables, want %d", n, want.Tables)
	}
	var prefixes struct {
		Entries uint64
		Live    *uint64 `json:"live_entries"`
	}
	err := json.Unmarshal([]byte(mustSST(t, "stats", "--by-prefix", "--json", s.dir)), &prefixes)
	if err != nil || prefixes.Entries != all || (prefixes.Live == nil) != (len(s.m.Layers) == 0) || prefixes.Live != nil && *prefixes.Live != uint64(len(live)) {
		t.Errorf("stats --by-prefix: %v, %+v, want %d entries and %d that are live", err, prefixes, all, len(live))
	}
}

func checkMergesOfLayers(t *testing.T, rng *rand.Rand, s *layeredSet, live map[string]string) {
	t.Helper()
	folded := filepath.Join(t.TempDir(), "folded") + "/"
	mustSST(t, "merge", s.dir, "-o", folded)
	checkPrints(t, linesOfPairs(live), "scan", folded)
	checkPrints(t, "", "diff", s.dir, folded)
	checkPrints(t, "", "diff", folded, s.dir)
	checkMerged(t, rng, []string{s.dir}, nil, live)
	other, want := newLayeredSet(t, rng, rng.IntN(3)), maps.Clone(live)
	for key, all := range other.versions { // a removal also hides keys of earlier INPUTs
		if want[key] = all[0].value; all[0].removed {
			delete(want, key)
		}
	}
	checkMerged(t, rng, []string{s.dir, other.dir}, nil, want)
	var diff struct{ minus, plus, both, same int }
	otherLive := other.live()
	for key, value := range live {
		switch v, found := otherLive[key]; {
		case !found:
			diff.minus++
		case v == value:
			diff.same++
		default:
			diff.both++
		}
	}
	diff.plus = len(otherLive) - diff.same - diff.both
	_, out, _ := sst("diff", "--summary", s.dir, other.dir)
	if want := fmt.Sprintf("%d only in %s, %d only in %s, %d with different values, %d equal\n", diff.minus, s.dir, diff.plus, other.dir, diff.both, diff.same); out != want {
		t.Errorf("diff --summary prints %q, want %q", out, want)
	}
}
