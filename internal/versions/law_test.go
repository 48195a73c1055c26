package versions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/internalkey"
)

// For random logs and log numbers in the MANIFEST, LiveLogs returns the logs with engine names from the named
// number on, and the previous log, in the order of their numbers. All logs that the MANIFEST names must exist.
func TestLiveLogsOfRandomNames(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 47))
		number := func() uint64 {
			return []uint64{0, rng.Uint64N(9), 999_995 + rng.Uint64N(9), math.MaxUint64}[rng.IntN(4)]
		}
		v := Version{log: number(), previousLog: number()}
		names := []string{"000008.LOG", "x.log", ".log", "18446744073709551616.log", "000008.ldb", "CURRENT"}
		var live []string
		var missing []uint64
		for _, base := range []uint64{0, 999_995} {
			for n := base; n < base+9; n++ {
				if rng.IntN(3) == 0 {
					names = append(names, fmt.Sprintf("%d.log", n), fmt.Sprintf("%09d.log", n)) // engines do not read all of these
				}
				name := fmt.Sprintf("%06d.log", n)
				if rng.IntN(2) == 0 {
					names = append(names, name)
				}
				if slices.Contains(names, name) && (n >= v.log || n == v.previousLog) {
					live = append(live, name)
				}
			}
		}
		for _, n := range slices.Compact([]uint64{v.previousLog, v.log}) {
			if n > 0 && !slices.Contains(names, fmt.Sprintf("%06d.log", n)) {
				missing = append(missing, n)
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		got, gotMissing := v.LiveLogs(names)
		if diff := gocmp.Diff(live, got, cmpopts.EquateEmpty()) + gocmp.Diff(missing, gotMissing, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d: logs %d and %d of %q, live and missing (-want +got):\n%s", seed, v.log, v.previousLog, names, diff)
		}
	}
}

// Random edits of a MANIFEST are damaged. A table is obsolete if the last sound edit with the table deletes it, or
// if the first edit is sound, the table is older than the MANIFEST and no edit has it. A log is obsolete if its
// number is below the highest one in sound edits, unless it is the last previous log.
func TestHistoryOfRandomEdits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 48))
		var edits []string
		damaged, unknown := rng.IntN(6), rng.IntN(2) == 0 // by an unknown field, or by its checksum
		listed, log, previous := map[uint64]bool{}, uint64(0), uint64(0)
		for i := range 1 + rng.IntN(5) {
			var edit []byte
			added := map[uint64]bool{}
			for range rng.IntN(6) {
				f := Field{Kind: []FieldKind{FieldAdd, FieldDelete, FieldLog, FieldPreviousLog}[rng.IntN(4)], Table: Table{Number: 1 + rng.Uint64N(12)}}
				edit = f.Append(edit)
				switch {
				case i == damaged:
				case f.Kind == FieldAdd:
					listed[f.Number], added[f.Number] = true, true
				case f.Kind == FieldDelete:
					listed[f.Number] = added[f.Number] // a table that is also added moves
				case f.Kind == FieldLog:
					log = max(log, f.Number)
				default:
					previous = f.Number
				}
			}
			if i == damaged && unknown {
				edit = append(edit, 99)
			}
			edits = append(edits, string(edit))
		}
		dir, manifest := t.TempDir(), tabletest.Log(t, edits...)
		if damaged < len(edits) && !unknown {
			manifest[len(tabletest.Log(t, edits[:damaged]...))] ^= 1
		}
		noError(t, os.WriteFile(filepath.Join(dir, "MANIFEST-000009"), manifest, 0o666))
		h, err := ReadHistory(dir, "MANIFEST-000009")
		noError(t, err)
		for n := uint64(1); n < 14; n++ {
			isListed, found := listed[n]
			if got, want := h.IsObsoleteTable(n), found && !isListed || !found && damaged != 0 && n < 9; got != want {
				t.Errorf("seed %d, edits %q: table %d is obsolete: %t", seed, edits, n, got)
			}
			if got, want := h.IsObsoleteLog(n), n < log && n != previous; got != want {
				t.Errorf("seed %d, edits %q: log %d is obsolete: %t", seed, edits, n, got)
			}
		}
	}
}

// A random version has flaws if and only if it breaks a rule of engines: see the cases of TestCheck.
func TestCheckOfRandomVersions(t *testing.T) {
	t.Parallel()
	sound := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 49))
		v := &Version{Manifest: "MANIFEST-000003", Comparer: "c", current: "MANIFEST-000003\n", nextFile: 7 + rng.Uint64N(4), log: rng.Uint64N(9), previousLog: rng.Uint64N(9)}
		v.LastSequence = internalkey.MaxSequence - 1 + rng.Uint64N(3)
		fatal, flawed := v.LastSequence > internalkey.MaxSequence, v.nextFile <= max(3, v.log, v.previousLog)
		for i := range rng.IntN(5) {
			a, b := keyOf("abcdefgh"[:rng.IntN(9)], rng.Uint64N(3)), keyOf("abcdefgh"[:rng.IntN(9)], rng.Uint64N(3))
			if rng.IntN(10) > 0 && compareKeys(a, b) > 0 {
				a, b = b, a
			}
			table := &Table{Level: rng.IntN(3), Number: 4 + uint64(i), Smallest: a, Largest: b}
			if rng.IntN(20) == 0 {
				table.Number = 4
			}
			for _, other := range v.Tables {
				within := table.Level > 0 && other.Level == table.Level && compareKeys(table.Smallest, other.Largest) <= 0 && compareKeys(other.Smallest, table.Largest) <= 0
				fatal = fatal || within || other.Number == table.Number
			}
			fatal, flawed = fatal || compareKeys(a, b) > 0, flawed || v.nextFile <= table.Number
			v.Tables = append(v.Tables, table)
		}
		if len(v.Tables) > 0 && rng.IntN(10) == 0 { // a key that is not an internal key
			key := &v.Tables[rng.IntN(len(v.Tables))].Smallest
			if rng.IntN(2) == 0 {
				key = &v.Tables[rng.IntN(len(v.Tables))].Largest
			}
			*key, fatal = (*key)[:rng.IntN(8)], true
		}
		slices.SortStableFunc(v.Tables, func(a, b *Table) int { return a.Level - b.Level })
		flaws := v.Check(compareKeys)
		isFatal := slices.ContainsFunc(flaws, func(f Flaw) bool { return f.Fatal })
		isFlawed := slices.ContainsFunc(flaws, func(f Flaw) bool { return !f.Fatal })
		if isFatal != fatal || isFlawed != flawed {
			t.Errorf("seed %d: %+v has the flaws %v, want fatal ones: %t, others: %t", seed, v, flaws, fatal, flawed)
		}
		if len(flaws) == 0 {
			sound++
		}
	}
	if sound < 100 {
		t.Errorf("%d versions are sound", sound)
	}
}
