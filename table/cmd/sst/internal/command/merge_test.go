package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// An inputModel describes an INPUT of merge.
type inputModel struct {
	path     string
	newest   map[string]versionModel
	plain    bool // there are no sequence numbers
	database bool
}

// A versionModel is the newest version of a key.
type versionModel struct {
	sequence uint64
	value    string
	deleted  bool
}

// newestVersions returns the newest versions of random keys. Two results have many keys in common.
func newestVersions(rng *rand.Rand) map[string]versionModel {
	all := map[string]versionModel{}
	for range min(1, rng.IntN(4)) * rng.IntN(600) {
		deleted := rng.IntN(4) == 0
		v := versionModel{uint64(rng.IntN(1000)), strings.Repeat("v", rng.IntN(50)) + fmt.Sprint(rng.IntN(1e9)), deleted}
		if deleted {
			v.value = ""
		}
		all[fmt.Sprintf("%0*d", 1+rng.IntN(3), rng.IntN(700))] = v
	}
	return all
}

// writeLines writes a table or a set of the versions. If it is plain, sequence numbers and deletions are lost.
func writeLines(t *testing.T, rng *rand.Rand, m *inputModel, args ...string) {
	t.Helper()
	var lines strings.Builder
	for key, v := range m.newest {
		kind := "set"
		if v.deleted {
			kind = "delete"
		}
		switch {
		case !m.plain:
			fmt.Fprintf(&lines, "%s\t%d\t%s\t%s\n", key, v.sequence, kind, v.value)
		case v.deleted:
			delete(m.newest, key)
		default:
			fmt.Fprintf(&lines, "%s\t%s\n", key, v.value)
		}
	}
	in := tempFile(t, "in.tsv", lines.String())
	mustSST(t, slices.Concat([]string{"build", "-o", m.path, in}, args, randomOptions(rng))...)
}

// randomOptions returns flags for the tables of an output.
func randomOptions(rng *rand.Rand) []string {
	return []string{
		"--bits", []string{"none", strconv.Itoa(1 + rng.IntN(20))}[rng.IntN(2)], "--block-size", strconv.Itoa(1 + rng.IntN(5000)),
		"--compression", []string{"none", "snappy", "zstd"}[rng.IntN(3)], "--restart-interval", strconv.Itoa(1 + rng.IntN(20)),
		"--table-filter", []string{"none", "table-bloom", "fuse:8"}[rng.IntN(3)],
	}
}

// writeDatabase has goleveldb write a database without compactions, so it keeps all deletions. It returns the live
// pairs.
func writeDatabase(t *testing.T, rng *rand.Rand, m *inputModel) map[string]string {
	t.Helper()
	o := &opt.Options{WriteBuffer: 2<<10 + rng.IntN(20<<10), CompactionL0Trigger: 1000, WriteL0SlowdownTrigger: 1000, WriteL0PauseTrigger: 2000}
	writeTo(t, m.path, o, func(db *leveldb.DB) (err error) {
		for i := range min(1, rng.IntN(4)) * rng.IntN(1500) {
			key, v := fmt.Sprintf("%0*d", 1+rng.IntN(3), rng.IntN(700)), versionModel{sequence: uint64(i + 1), deleted: rng.IntN(3) == 0}
			if v.deleted {
				err = errors.Join(err, db.Delete([]byte(key), nil))
			} else {
				v.value = fmt.Sprintf("%0*d", rng.IntN(80), v.sequence)
				err = errors.Join(err, db.Put([]byte(key), []byte(v.value), nil))
			}
			m.newest[key] = v
		}
		return err
	})
	return livePairs(m.newest)
}

// livePairs returns the pairs that are not deleted.
func livePairs(newest map[string]versionModel) map[string]string {
	live := map[string]string{}
	for key, v := range newest {
		if !v.deleted {
			live[key] = v.value
		}
	}
	return live
}

// randomMergeInput writes an INPUT of one of the first kinds. The first two have sequence numbers, the others do not.
func randomMergeInput(t *testing.T, rng *rand.Rand, kinds int) inputModel {
	t.Helper()
	m := inputModel{path: filepath.Join(t.TempDir(), "in"), newest: newestVersions(rng)}
	switch rng.IntN(kinds) {
	case 3:
		m.plain = true
		writeLines(t, rng, &m)
	case 2:
		m.plain = true
		writeLines(t, rng, &m, "--entries-per-table", strconv.Itoa(1+rng.IntN(200)))
	case 1:
		writeLines(t, rng, &m, "--internal-keys=yes")
	default:
		m.newest, m.database = map[string]versionModel{}, true
		writeDatabase(t, rng, &m)
	}
	return m
}

// ruleOf returns the rule that --on-duplicate auto chooses for the inputs.
func ruleOf(inputs []inputModel) string {
	databases := map[string]bool{} // a repeated one counts once
	for _, m := range inputs {
		switch {
		case len(m.newest) > 0 && m.plain:
			return "last"
		case len(m.newest) > 0 && m.database:
			databases[m.path] = true
		}
	}
	if len(databases) > 1 {
		return "last"
	}
	return "newest"
}

// mergeModel returns the pairs that OUT should have. common is a key that several inputs have, at least one of them
// not deleted, or "" if there is none.
func mergeModel(inputs []inputModel, rule string) (live map[string]string, common string) {
	winners := map[string]versionModel{}
	for _, m := range inputs {
		for key, v := range m.newest {
			before, twice := winners[key]
			if twice && !(before.deleted && v.deleted) {
				common = key
			}
			if !twice || rule == "last" || rule == "newest" && v.sequence >= before.sequence {
				winners[key] = v
			}
		}
	}
	return livePairs(winners), common
}

// checkMerged merges INPUTs to one of the three kinds of OUT, and compares its pairs with want.
func checkMerged(t *testing.T, rng *rand.Rand, paths, flags []string, want map[string]string) {
	t.Helper()
	out, kind := filepath.Join(t.TempDir(), "out"), rng.IntN(3)
	args := slices.Concat([]string{"merge", "-o", out}, paths, flags, randomOptions(rng))
	switch kind {
	case 0:
		args = append(args, "--database", "--table-size", strconv.Itoa(1+rng.IntN(50_000)), "--compression", "snappy")
	case 1:
		args = append(args, "--entries-per-table", strconv.Itoa(1+rng.IntN(500)))
	}
	mustSST(t, args...)
	var got map[string]string
	var err error
	if kind == 0 {
		got, err = entriesOf(leveldb.OpenFile(out, &opt.Options{ErrorIfMissing: true, Strict: opt.StrictAll}))
	} else {
		got = pairsOfLines(mustSST(t, "scan", out))
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("sst %q: %v, want (-), got (+):\n%.2000s", args, err, diff)
	}
	mustSST(t, "verify", "-q", out)
}

// OUT has the pairs of a map that takes the INPUTs' entries by the same rule. A key whose deletion wins is absent.
func TestMergeIsThatOfMaps(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(rounds(20, 400), 33) {
		var inputs []inputModel
		for kinds := 2 + 2*rng.IntN(2); len(inputs) < 1+rng.IntN(7); {
			inputs = append(inputs, randomMergeInput(t, rng, kinds))
		}
		inputs = append(inputs, inputs[rng.IntN(len(inputs)):][:rng.IntN(2)]...) // one comes twice
		var paths []string
		for _, m := range inputs {
			paths = append(paths, m.path)
		}
		rule := ruleOf(inputs)
		flags := []string{}
		if other := []string{"auto", "first", "last", "newest"}[rng.IntN(4)]; other != "auto" && (other != "newest" || !slices.ContainsFunc(inputs, func(m inputModel) bool { return m.plain })) {
			rule, flags = other, []string{"--on-duplicate", other}
		}
		want, common := mergeModel(inputs, rule)
		checkMerged(t, rng, paths, flags, want)
		status, _, stderr := sst(slices.Concat([]string{"merge", "--on-duplicate", "error", "-o", filepath.Join(t.TempDir(), "x.ldb")}, paths)...)
		if (status == cli.ExitUsage) != (common != "") {
			t.Errorf("seed %d: with --on-duplicate error, status %d, %s; want an error for %q", seed, status, stderr, common)
		}
	}
}

// Merging the tables and the log of a database, in any order, some twice, with or without the database itself, gives
// the pairs of the database.
func TestMergePartsOfADatabase(t *testing.T) {
	t.Parallel()
	for _, rng := range seeds(rounds(6, 100), 34) {
		m := inputModel{path: filepath.Join(t.TempDir(), "db"), newest: map[string]versionModel{}}
		want := writeDatabase(t, rng, &m)
		tables, _ := filepath.Glob(filepath.Join(m.path, "*.ldb"))
		logs, _ := filepath.Glob(filepath.Join(m.path, "*.log"))
		paths := append(tables, logs...)
		for range rng.IntN(3) {
			paths = append(paths, append(slices.Clone(paths), m.path)[rng.IntN(len(paths)+1)])
		}
		rng.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		checkMerged(t, rng, paths, nil, want)
	}
}

// If there are more INPUTs than bytes to read ahead for each, the last one still wins for every key.
func TestMergeManyInputs(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), map[string]string{}
	var paths []string
	for i := range 300 {
		lines := ""
		for key := range i%7 + 1 {
			lines += fmt.Sprintf("key%d\t%d\n", key, i)
			want[fmt.Sprintf("key%d", key)] = fmt.Sprint(i)
		}
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.ldb", i)))
		mustSST(t, "build", "-o", paths[i], tempFile(t, "in.tsv", lines))
	}
	checkMerged(t, rand.New(rand.NewPCG(1, 35)), paths, nil, want)
}
