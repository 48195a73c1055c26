package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table/set"
)

// Builders of the same and of different pairs write to one directory at once, and some of them abort. Meanwhile
// sweeps remove all tables that no manifest lists, however old they look. At any time, all tables of the manifest,
// if there is one, exist.
func TestSweepBesideBuilders(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(45, 1))
	parent := t.TempDir()
	for round := range rounds(24, 300) {
		dir := filepath.Join(parent, fmt.Sprint(round/6)) // six rounds in each directory
		var all sync.WaitGroup
		for range 1 + r.IntN(5) {
			n, value, commits := 1+r.IntN(3)*20, fmt.Sprint(r.IntN(3)), r.IntN(4) > 0
			all.Go(func() {
				o := set.BuilderOptions{EntriesPerTable: 10}
				if err := buildIn(t.Context(), dirStore(dir), o, n, 0, value, commits); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		meanwhile(1, func(*rand.Rand) { sweepOld(t, dir) }, all.Wait)
		if _, err := os.Stat(filepath.Join(dir, set.ManifestName)); err != nil {
			continue
		}
		listing(t, dir)
		sweepOld(t, dir)
		if files, m := listing(t, dir), readManifest(t, dir); len(files) != 1+len(m.Tables) {
			t.Errorf("round %d: %q are left of a set of %d tables", round, files, len(m.Tables))
		}
	}
}

// sweepOld makes all tables look old, and removes unlisted ones.
func sweepOld(t *testing.T, dir string) {
	t.Helper()
	tables, _ := filepath.Glob(filepath.Join(dir, "*.ldb"))
	old := time.Unix(1e9, 0)
	for _, name := range tables {
		os.Chtimes(name, old, old) // fails if the table is gone
	}
	err := set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{Before: old.Add(time.Hour)})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the directory
		t.Error(err)
	}
}

// Without a lock, Builders and Sweeps with all ages run at once. If the manifest then lists a missing table, one of
// them has returned an error.
func TestSweepBesideBuildersWithoutLock(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(12, 27))
	for round := range rounds(30, 1000) {
		s := replacingStore{newMemoryStore()}
		noError(t, buildSmall(t, s, set.BuilderOptions{}, 5, "0"))
		var all sync.WaitGroup
		var said atomic.Bool
		check := func(what string, err, expected error) {
			if errors.Is(err, set.ErrGone) {
				said.Store(true)
			} else if err != nil && !errors.Is(err, expected) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for range 2 + r.IntN(3) {
			n, value := 1+r.IntN(9), fmt.Sprint(r.IntN(2))
			all.Go(func() { check("Commit", buildSmall(t, s, set.BuilderOptions{}, n, value), set.ErrChanged) })
		}
		for range 3 {
			all.Go(func() { check("Sweep", set.Sweep(t.Context(), s, &set.SweepOptions{AnyAge: true}), set.ErrBuilding) })
		}
		all.Wait()
		m, err := set.ReadManifest(bytes.NewReader(s.files[set.ManifestName].content))
		noError(t, err)
		for table := range m.All() {
			if _, ok := s.files[table.Name]; !ok && !said.Load() {
				t.Fatalf("round %d: %s is listed and gone, and nobody says so", round, table.Name)
			}
		}
	}
}

// A file stays even if the manifest spells its name differently, as file systems that ignore case allow.
func TestSweepIgnoresCase(t *testing.T) {
	t.Parallel()
	s := newChangingStore(t)
	s.list(t, set.ManifestName, 0xabc)
	name := strings.ToUpper(tableNumber(0xabc).Name)
	s.files[name] = memoryFile{}
	var matched []string
	match := func(name string) bool { matched = append(matched, name); return true }
	noError(t, set.Sweep(t.Context(), s, &set.SweepOptions{AnyAge: true, Match: match}))
	if _, ok := s.files[name]; !ok {
		t.Error("a listed table is removed")
	}
	if !slices.Contains(matched, name) { // the notes of sstcloud depend on it
		t.Errorf("Match is called for %q, and not for the listed table", matched)
	}
}

// Whatever Match says, Sweep keeps its lock, without which a build could begin.
func TestSweepKeepsItsLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buildSet(t, dir, 1, "v")
	noError(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o666))
	s := &set.DirStore{Dir: dir, LockFile: func(_ context.Context, path string) (unlock func(), err error) {
		return func() {}, os.WriteFile(path, nil, 0o666)
	}}
	want := append(listing(t, dir), "set.jsonl.lock")
	noError(t, set.Sweep(t.Context(), s, &set.SweepOptions{AnyAge: true, Match: func(string) bool { return true }}))
	checkDiff(t, "files", slices.DeleteFunc(want, func(name string) bool { return name == "other" }), names(t, dir))
	s.LockFile = func(context.Context, string) (unlock func(), err error) { return nil, broken }
	checkError(t, "Sweep without the lock", set.Sweep(t.Context(), s, nil), broken, "")
}
