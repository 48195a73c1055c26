package source

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Verify determines the highest sequence number if all blocks are undamaged. Only in a database it reports keys of
// kinds that LevelDB does not have: the first 100, and whether there are more.
func TestVerifyOfRandomKinds(t *testing.T) {
	t.Parallel()
	order := table.InternalComparer(table.BytewiseComparer)
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 98))
		kinds := [][]internalkey.Kind{{0, 1}, {0, 1, 1, 1, 2, 7}, {7}}[rng.IntN(3)]
		keys := versionsOf(rng, order, kinds)
		keys = keys[:1+rng.IntN(len(keys))]
		highest, others := uint64(0), 0
		for _, key := range keys {
			k, _ := internalkey.Parse([]byte(key))
			if highest = max(highest, k.Sequence); k.Kind > internalkey.Set {
				others++
			}
		}
		path := filepath.Join(t.TempDir(), "000001.ldb")
		filetest.WriteTable(t, path, table.WriterOptions{Comparer: order, BlockSize: 1 + rng.IntN(4000)}, keys...)
		inDatabase, damaged := rng.IntN(2) == 0, rng.IntN(3) == 0
		o := dbfile.Options{InternalKeys: dbfile.Yes}
		if inDatabase {
			o.Meta = new(versions.Table)
		}
		if damaged {
			flipAt(t, path, 0)
			o.Order = dbfile.ExplicitOrder(table.BytewiseComparer)
		}
		f := open(t, path, o)
		found, _, err := f.Verify(nil)
		want := min(others, 101)
		if !inDatabase {
			want = 0
		}
		if got := strings.Count(fmt.Sprint(err), "of kind"); !damaged && (got != want || (err != nil) != (want > 0)) {
			t.Errorf("seed %d: %d keys are of other kinds, in a database: %t; Verify names %d: %.200v", seed, others, inDatabase, got, err)
		}
		if damaged {
			highest = 0
		}
		if found.Highest() != highest || damaged && err == nil {
			t.Errorf("seed %d: the highest sequence number is %d, want %d; damaged is %t, %v", seed, found.Highest(), highest, damaged, err)
		}
	}
}

// Each loss of a damaged log is reported once, with the log. A log whose writes are in tables too is reported as
// well.
func TestDamageOfRandomLogs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 99))
		l, dir, sequence := &dbfile.Log{Log: wal.Log{Start: 1 + rng.Uint64N(3)}}, t.TempDir(), 1+byte(rng.IntN(3))
		for i := range 3 {
			var records []string
			lowest := byte(255)
			for range rng.IntN(6) {
				if rng.IntN(3) == 0 {
					records = append(records, []string{"no batch at all", "nothing at all"}[rng.IntN(2)])
					continue
				}
				if sequence > 3 && rng.IntN(6) == 0 { // the sequence numbers step back
					records, lowest = append(records, filetest.Deletion(sequence-2)), min(lowest, sequence-2)
					continue
				}
				records, lowest = append(records, filetest.Deletion(sequence)), min(lowest, sequence)
				sequence += 1 + byte(rng.IntN(4)/3)
			}
			before, path := l.Path, filepath.Join(dir, fmt.Sprintf("%06d.log", i))
			noError(t, os.WriteFile(path, filetest.Log(t, records...), 0o666))
			l = l.Next(path)
			inTables := uint64(rng.IntN(20))
			_, lostBefore, err := l.Verify(inTables)
			var got []string
			for line := range strings.Lines(fmt.Sprint(errors.Join(lostBefore, err))) {
				got = append(got, strings.TrimSuffix(line, "\n"))
			}
			if isOld := slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "the log is outdated") }); isOld != (uint64(lowest) <= inTables && lowest < 255) {
				t.Errorf("seed %d: log %d from sequence number %d on, %d in tables, is old: %t", seed, i, lowest, inTables, isOld)
			}
			checkDamage(t, fmt.Sprint("seed ", seed, ", log ", i), before, l)
		}
	}
}

// checkDamage compares the damage of a log with its parts. Parts that have lost the same writes count as one.
func checkDamage(t *testing.T, what, before string, l *dbfile.Log) {
	t.Helper()
	said := fmt.Sprint(l.DamageError())
	type loss struct {
		after, before uint64
		inLogBefore   bool
	}
	var losses []loss
	bytes := map[int]int64{}
	for _, d := range l.Damage {
		of := loss{d.After, d.Before, d.InLogBefore}
		if n := len(losses); n == 0 || losses[n-1] != of {
			losses = append(losses, of)
		}
		bytes[len(losses)-1] += d.Bytes
	}
	if n := len(regexp.MustCompile(`offset \d`).FindAllString(said, -1)); n != len(losses) {
		t.Errorf("%s: %d losses are named, want %d:\n%s\nof %+v", what, n, len(losses), said, l.Damage)
	}
	for i, of := range losses {
		if !of.inLogBefore && bytes[i] > 0 && !strings.Contains(said, fmt.Sprintf("%d bytes", bytes[i])) {
			t.Errorf("%s: loss %d is of %d bytes:\n%s", what, i, bytes[i], said)
		}
	}
	isBefore := func(d wal.LogDamage) bool { return d.InLogBefore }
	if got, want := strings.Contains(said, before+": offset"), slices.ContainsFunc(l.Damage, isBefore); before != "" && got != want {
		t.Errorf("%s: the log before is named: %t, want %t:\n%s", what, got, want, said)
	}
	if got, want := strings.Contains(said, l.Path+": "), slices.ContainsFunc(l.Damage, func(d wal.LogDamage) bool { return !isBefore(d) }); got != want {
		t.Errorf("%s: the log is named: %t, want %t:\n%s", what, got, want, said)
	}
}
