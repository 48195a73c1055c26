package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/plan"
	"github.com/sievetable/sievetable/table/set"
)

// The commands that a plan prints build what it planned: as many tables, with the same filters.
func TestCommandsOfPlan(t *testing.T) {
	long.NoRace(t)
	long.Test(t)
	r := rand.New(rand.NewPCG(28, 17))
	for _, tt := range []struct {
		flags  string
		values bool
	}{
		{"-n 5500 --bits 10 --entries-per-table 1k", false},
		{"-n 3001 -p 0.5% --entries-per-table 1e3 --value-size 10", true},
		{"-n 2000 --bits 7", false},
		{"-n 40k -p 1% --table-size 1MiB --key-size 60 --block-size 1KiB --value-size 20", true},
	} {
		var p plan.Plan
		noError(t, json.Unmarshal([]byte(mustSieve(t, append([]string{"plan", "--json"}, strings.Fields(tt.flags)...)...)), &p))
		input := filepath.Join(t.TempDir(), "input")
		noError(t, os.WriteFile(input, randomLines(r, int(p.Keys), tt.values), 0o666))
		for _, o := range slices.Concat(p.WithData, p.LargerBlocks, p.FilterOnly) {
			checkCommand(t, o, input)
		}
	}
}

// randomLines returns lines of n distinct keys of any bytes, or of keys and values with escapes.
func randomLines(r *rand.Rand, n int, values bool) []byte {
	var lines []byte
	for i := range n {
		if values {
			lines = fmt.Appendf(lines, "key\\t%d\\\\\tvalue %d\n", r.Uint64(), i)
			continue
		}
		lines = fmt.Appendf(lines, "http://example.com/%d\\x\t", i)
		for range r.IntN(20) {
			lines = append(lines, `\tn"'\`+"\r\t\x00\xff "...)
		}
		lines = append(lines, '\n')
	}
	return lines
}

// checkCommand runs the command of an option, and checks the tables that it builds.
func checkCommand(t *testing.T, o plan.Option, input string) {
	t.Helper()
	dir, names := runCommand(t, o.Command, input)
	if len(names) != int(o.Tables) {
		t.Errorf("%s: %d tables, want %.0f as planned", o.Command, len(names), o.Tables)
	}
	checkFilters(t, o, filepath.Join(dir, names[0]))
}

// runCommand runs a command that a plan prints, and returns the tables that it builds.
func runCommand(t *testing.T, command, input string) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	words := strings.Fields(command)[1:]
	for i, word := range words {
		words[i] = cmp.Or(map[string]string{"DIR/": dir + "/", "OUT": filepath.Join(dir, "out"), "INPUT": input}[word], word)
	}
	mustSST(t, words...)
	if !strings.Contains(command, "DIR/") {
		return dir, []string{"out"}
	}
	m, err := set.NewDir(dir).ReadManifest()
	noError(t, err)
	for _, l := range m.Tables {
		names = append(names, l.Name)
	}
	return dir, names
}

// statistics match the bits per key that sst stats prints for a filter.
var statistics = map[string]*regexp.Regexp{
	"bloom":       regexp.MustCompile(`(?s)block filters .*?bits per key +([0-9.]+), k`),
	"table-bloom": regexp.MustCompile(`(?s)table filter +rocksdb.*?bits per key +([0-9.]+), k`),
	"fuse":        regexp.MustCompile(`in fingerprints of ([0-9]+) bits`),
}

// checkFilters checks the filters of a table, and their bits per key. Filters of one or a few lines of 64 bytes
// may have up to 2 lines more.
func checkFilters(t *testing.T, o plan.Option, path string) {
	t.Helper()
	want := map[string]int{"bloom": o.BlockBits}
	if kind, bits, found := strings.Cut(o.TableFilter, ":"); found {
		want[kind], _ = strconv.Atoi(bits)
	}
	stats := mustSST(t, "stats", path)
	for kind, has := range statistics {
		m, got := has.FindStringSubmatch(stats), 0.0
		if m != nil {
			got, _ = strconv.ParseFloat(m[1], 64)
		}
		planned, more := float64(want[kind]), 0.0
		if kind != "fuse" && planned > 0 {
			more = 1024/o.KeysPerTable + 0.05*planned
		}
		if got < planned || got > planned+more {
			t.Errorf("%s: %s has %g bits per key, want %g as planned", o.Command, kind, got, planned)
		}
	}
}
