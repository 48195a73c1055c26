package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/plan"
)

// The commands that a plan with a sample prints build what it planned: as many tables, with sizes within 10 %,
// and filters with the same rates.
func TestPlanBySample(t *testing.T) {
	long.NoRace(t)
	long.Test(t)
	r := rand.New(rand.NewPCG(5, 6))
	for range 2 {
		list := workload.W3(20_000 + r.IntN(20_000))
		values := r.IntN(2) == 0
		dir, share := t.TempDir(), 0.2+0.8*r.Float64()
		input, sample := filepath.Join(dir, "input"), filepath.Join(dir, "sample")
		r.Shuffle(len(list.Keys), func(i, j int) { list.Keys[i], list.Keys[j] = list.Keys[j], list.Keys[i] })
		lines := sampleLines(r, list.Keys, values)
		writeInput(t, input, lines)
		writeInput(t, sample, lines[:int(share*float64(len(lines)))])
		format := map[bool]string{true: "raw", false: "raw-keys"}[values]
		flags := fmt.Sprintf("--input-format %s -n %d --bits %d --entries-per-table %d --block-size %d", format, len(lines), 4+r.IntN(8), 3000+r.IntN(30_000), 1024<<r.IntN(6))
		var p plan.Plan
		noError(t, json.Unmarshal([]byte(mustSieve(t, append([]string{"plan", "--json", "--sample", sample}, strings.Fields(flags)...)...)), &p))
		for _, o := range slices.Concat(p.WithData, p.FilterOnly) {
			if o.Chosen {
				checkPlanned(t, fmt.Sprintf("of %.2f, %s: %s", share, flags, o.Command), o, input, list.Absent)
			}
		}
	}
}

// sampleLines returns a line for each key.
func sampleLines(r *rand.Rand, keys [][]byte, values bool) (lines []string) {
	for _, key := range keys {
		line := string(key) + "\n"
		if values {
			line = fmt.Sprintf("%s\t%x\n", key, r.Perm(1+r.IntN(20)))
		}
		lines = append(lines, line)
	}
	return lines
}

// checkPlanned runs the command of an option, and compares the tables that it builds with the plan.
func checkPlanned(t *testing.T, name string, o plan.Option, input string, absent [][]byte) {
	t.Helper()
	dir, names := runCommand(t, o.Command, input)
	disk, memory, hits, asked := 0.0, 0.0, 0, 0
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		noError(t, err)
		m, h, n := queryTable(t, path, absent)
		disk, memory, hits, asked = disk+float64(info.Size()), memory+m, hits+h, asked+n
	}
	if len(names) != int(o.Tables) {
		t.Errorf("%s: %d tables, want %.0f as planned", name, len(names), o.Tables)
	}
	rate := float64(hits) / float64(asked)
	chance := 4 * math.Sqrt(o.MeasuredRate/float64(asked))
	for _, x := range []struct {
		name                 string
		planned, built, more float64
	}{{"disk", o.DiskBytes, disk, 0}, {"memory", o.MemoryBytes, memory, 0}, {"rate", o.MeasuredRate, rate, chance + o.Band}} {
		if math.Abs(x.planned-x.built) > 0.1*x.built+x.more {
			t.Errorf("%s: %s of %g planned, %g built", name, x.name, x.planned, x.built)
		}
	}
}

// queryTable looks up the absent keys that are between two keys of a table. It returns the table's memory after
// that, and the number of false positives.
func queryTable(t *testing.T, path string, absent [][]byte) (memory float64, hits, asked int) {
	t.Helper()
	r, err := table.Open(path, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{fuse.Policy{}}})
	noError(t, err)
	defer r.Close() // it was only read
	var first []byte
	if !r.FilterOnly() {
		it := r.NewIter(nil)
		it.First()
		first = bytes.Clone(it.Key())
		noError(t, it.Close())
	}
	for _, key := range absent {
		if !r.FilterOnly() {
			if _, _, err := r.FindGE(key); err != nil || bytes.Compare(key, first) < 0 {
				continue
			}
		}
		if asked++; filetest.MayContain(r, key) {
			hits++
		}
	}
	return float64(r.MemorySize()), hits, asked
}

// The commands for a longer list than the sample specify the format that the sample's name implies. They allow
// repeated keys if there are no values, even if the sample has no repeated keys, but not if there are values.
func TestCommandsOfPartOfAList(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for name, want := range map[string]string{
		"urls.txt":  "--input-format raw-keys --on-duplicate first -o OUT INPUT\n",
		"urls.json": "--input-format json -o OUT INPUT\n",
	} {
		var lines bytes.Buffer
		for range 2000 {
			if n := rng.Uint64(); name == "urls.txt" {
				fmt.Fprintf(&lines, "http://example.com/%d\n", n)
			} else {
				fmt.Fprintf(&lines, `{"key": "%d", "value": "%d"}`+"\n", n, n)
			}
		}
		path := filepath.Join(t.TempDir(), name)
		noError(t, os.WriteFile(path, lines.Bytes(), 0o666))
		if got := mustSieve(t, "plan", "-n", "10k", "--sample", path, "--bits", "10"); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", name, want, got)
		}
	}
}

// For a list that is planned as a whole, the commands contain its file name, even if the file repeats keys or a
// shell would split the name.
func TestCommandsOfWholeList(t *testing.T) {
	long.NoRace(t)
	long.Test(t)
	t.Chdir(t.TempDir())
	var lines bytes.Buffer
	for i := range 2500 {
		fmt.Fprintf(&lines, `http://example.com/\%d`+"\n", i/2)
	}
	noError(t, os.WriteFile("my list", lines.Bytes(), 0o666))
	got := mustSieve(t, "plan", "--sample", "my list", "--input-format", "raw-keys", "--bits", "10", "--entries-per-table", "1k")
	for _, want := range []string{
		"1,250 keys of 23 B without values; goal: about 10 bits per key\n",
		"sst build --filter-only --table-filter fuse:8 --input-format raw-keys --entries-per-table 1000 -o DIR/ 'my list'\n",
		"sst build --bits none --table-filter fuse:8 --block-size 4KiB --input-format raw-keys --on-duplicate first --entries-per-table 1000 -o DIR/ 'my list'\n",
		"\nSizes and rates were estimated from 1,250 keys of a list of 1,250.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
