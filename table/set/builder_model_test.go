package set_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/set"
)

// A change contains the entries and removals of a build.
type change struct {
	added   map[string]string
	removed map[string]bool
}

func randomChange(r *rand.Rand, layer bool) change {
	c := change{map[string]string{}, map[string]bool{}}
	for range r.IntN(60) {
		c.added[smallKey(r)] = fmt.Sprint(r.IntN(3))
	}
	for range r.IntN(30) {
		if key := smallKey(r); layer && c.added[key] == "" {
			c.removed[key] = true
		}
	}
	return c
}

// smallKey returns one of 100 keys, among them the empty one.
func smallKey(r *rand.Rand) string {
	i := r.IntN(100)
	return fmt.Sprintf("%02d", i)[:2*min(i, 1)]
}

// write appends the changes from lower up to upper to a Builder.
func (c change) write(t *testing.T, b *set.Builder, lower, upper string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(c.added)) {
		if key >= lower && key < upper {
			noError(t, b.Append([]byte(key), []byte(c.added[key])))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.removed)) {
		if key >= lower && key < upper {
			noError(t, b.Remove([]byte(key)))
		}
	}
}

// build writes the change by one Builder, or aborts it.
func (c change) build(t *testing.T, dir string, o set.BuilderOptions, commits bool) {
	t.Helper()
	b := newBuilder(t, dir, o)
	c.write(t, b, "", "z")
	if commits {
		commit(t, b)
	}
	noError(t, b.Abort())
}

// buildParts writes the change in parts, every other one twice.
func (c change) buildParts(t *testing.T, r *rand.Rand, dir string, o set.BuilderOptions) {
	t.Helper()
	o.Lease = set.NewLease()
	var all set.Layer
	lower := ""
	for i, upper := range []string{fmt.Sprint(r.IntN(5)), fmt.Sprint(5 + r.IntN(5)), "z"} {
		o.Part, o.EntriesPerTable = i+1, 0
		var l set.Layer
		for range 1 + i%2 {
			b := newBuilder(t, dir, o)
			c.write(t, b, lower, upper)
			l = commit(t, b)
		}
		lower = upper
		all.Tables, all.Removals = append(all.Tables, l.Tables...), append(all.Removals, l.Removals...)
	}
	for range 2 { // a layer is not added again
		noError(t, set.Publish(t.Context(), dirStore(dir), all, &o))
	}
}

// Random sets and layers, cut into tables of all sizes or into parts, agree with a map. An aborted build changes
// nothing, and Sweep removes only unneeded files.
func TestBuildersAsModel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(82, 3))
	for round := range rounds(10, 300) {
		t.Run(fmt.Sprint(round), func(t *testing.T) { buildAsModel(t, r) }) // closes the sets at its end
	}
}

func buildAsModel(t *testing.T, r *rand.Rand) {
	dir, model := filepath.Join(t.TempDir(), "set"), map[string]string{}
	for step := range 8 {
		o := set.BuilderOptions{Layer: step > 0 && r.IntN(5) > 0, EntriesPerTable: 1 + r.IntN(30)}
		c, commit := randomChange(r, o.Layer), step == 0 || r.IntN(4) > 0
		c.added["50"] = "not empty"
		delete(c.removed, "50")
		if commit && r.IntN(2) == 0 {
			c.buildParts(t, r, dir, o)
		} else {
			c.build(t, dir, o, commit)
		}
		if !commit {
			continue
		}
		if !o.Layer {
			clear(model)
		}
		maps.Copy(model, c.added)
		maps.DeleteFunc(model, func(key, _ string) bool { return c.removed[key] })
		noError(t, set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{AnyAge: true}))
		checkModel(t, dir, model)
	}
}

// checkModel checks that the set in dir has these entries and no other files.
func checkModel(t *testing.T, dir string, model map[string]string) {
	t.Helper()
	s := openDir(t, dir, nil)
	if diff := cmp.Diff(model, entriesOf(t, s, nil)); diff != "" {
		t.Fatalf("entries (-want +got):\n%s", diff)
	}
	want := []string{set.ManifestName}
	for table := range s.Manifest().All() {
		want = append(want, table.Name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Fatalf("files (-manifest +directory):\n%s", diff)
	}
}

// Publish does not write a manifest of tables that are missing or differ.
func TestPublishLooksForTables(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	b := newBuilder(t, dir, set.BuilderOptions{Part: 1})
	appendKeys(t, b, 10, "v")
	l := commit(t, b)
	buildSet(t, other, 10, "v")
	longer := set.Layer{Tables: slices.Clone(l.Tables)}
	longer.Tables[0].Size++
	for name, test := range map[string]struct {
		dir string
		l   set.Layer
		o   *set.BuilderOptions
	}{
		"in another directory": {other, l, nil},
		"of another size":      {dir, longer, nil},
		"without a set":        {dir, l, &set.BuilderOptions{Layer: true}},
		"removals of a set":    {dir, set.Layer{Removals: l.Tables}, nil},
	} {
		before := names(t, test.dir)
		checkError(t, "tables "+name+": Publish", set.Publish(t.Context(), dirStore(test.dir), test.l, test.o), nil, "")
		checkDiff(t, "tables "+name+": files", before, names(t, test.dir))
	}
	noError(t, set.Publish(t.Context(), dirStore(dir), l, nil))
	checkDiff(t, "tables", l.Tables, readManifest(t, dir).Tables)
}
